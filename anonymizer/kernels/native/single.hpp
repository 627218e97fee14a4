// One class: acceptable or not, and what it is worth.
#pragma once

#include "checks.hpp"

namespace anonymizer {

// What a cut of a class must gain at least: rounding alone is no gain.
constexpr double TIE = 1e-12;

// What a class is worth: see `rules.Worth`.
struct Worth {
    Array<i64, 2> spans;
    Array<double> weights, per_value, by_size;
    double each;

    static Worth of(Given& given) {
        Worth worth;
        given.read(worth.spans, worth.weights, worth.per_value, worth.by_size);
        worth.each = given.real();
        return worth;
    }
};

// Conditions and worth of a class: see `single.Criteria`. `sums` is set by who has room for them.
struct Criteria {
    double least;
    Policy policy;
    Worth worth;

    static Criteria of(Given& given) {
        Criteria required;
        required.least = given.real();
        required.policy.laid = Laid::of(given);
        required.worth = Worth::of(given);
        required.policy.logs = Logs::of(given);
        required.policy.sums = nullptr;
        return required;
    }
};

// The worth of a class that has records, acceptable or not.
template <class Classes>
double worth_of(Classes of, i64 row, const Criteria& required) {
    const Worth& worth = required.worth;
    const Logs& logs = required.policy.logs;
    const i64 records = i64(of.counts(row, of.counts.shape[1] - 1));
    double total = worth.each;
    if (worth.by_size.size()) total += worth.by_size[records];
    for (i64 attribute = 0; attribute < worth.weights.size(); attribute++) {
        double bits = -logs.xlogx(records);
        i64 occurring = 0;
        const auto values = of.about(row, worth.spans(attribute, 0), worth.spans(attribute, 1));
        for (i64 entry = values.begin; entry < values.end; entry++) {
            const i64 count = values.count(entry);
            if (count > 0) {
                bits += logs.xlogx(count);
                occurring++;
            }
        }
        total += worth.weights[attribute] * bits - worth.per_value[attribute] * double(occurring);
    }
    return total;
}

// The worth of a class, -inf where it breaks a bound, 0 where it has no records.
inline double value_of(Array<i64, 2> counts, i64 row, const Criteria& required) {
    const i64 records = counts(row, counts.shape[1] - 1);
    if (records == 0) return 0.0;
    if (double(records) < required.least || breaks(Dense<i64>{counts}, row, required.policy))
        return -INF;
    return worth_of(Dense<i64>{counts}, row, required);
}

// Memory in which some classes are judged: see `single.Room`.
struct Room {
    Array<i64, 2> counts;
    Array<double, 2> terms;
    double *bits, *worths;
    mutable i64 held[2];  // the columns whose entropy `bits` has
    i64* sums;
    bool* marks;

    static Room of(Given& given) {
        Room room;
        given.read(room.counts, room.terms);
        room.bits = given.array<double>().data;
        room.worths = given.array<double>().data;
        room.sums = given.array<i64>().data;
        room.marks = given.array<bool>().data;
        return room;
    }
};

// Sets `bits` to n H(W|g).
inline void set_entropy(const Room& room, i64 number, i64 start, i64 stop) {
    if (room.held[0] == start && room.held[1] == stop) return;
    room.held[0] = start;
    room.held[1] = stop;
    const double* whole = room.terms(room.terms.size() - 1).data;
    std::copy(whole, whole + number, room.bits);
    for (i64 column = start; column < stop; column++) {
        const double* terms = room.terms(column).data;
        for (i64 row = 0; row < number; row++) room.bits[row] -= terms[row];
    }
}

// Marks classes of too little entropy.
inline void judge_entropy(const Room& room, i64 number, const Laid& laid, i64 bound) {
    const i64 last = room.counts.shape[1] - 1;
    const double limit = laid.limits[bound];
    set_entropy(room, number, laid.facts(bound, START), laid.facts(bound, STOP));
    for (i64 row = 0; row < number; row++)
        if (room.bits[row] < limit * double(room.counts(row, last))) room.worths[row] = -INF;
}

// Marks classes too far from the table.
inline void judge_divergence(const Room& room, i64 number, const Laid& laid, i64 bound) {
    const i64 last = room.counts.shape[1] - 1;
    const i64 start = laid.facts(bound, START), stop = laid.facts(bound, STOP);
    const double limit = laid.limits[bound];
    set_entropy(room, number, start, stop);
    room.held[1] = -1;
    for (i64 column = start; column < stop; column++) {
        const double logarithm = laid.rows(UPPER, bound, column);
        if (logarithm > -INF)  // else no record of the table has the value
            for (i64 row = 0; row < number; row++)
                room.bits[row] += double(room.counts(row, column)) * logarithm;
    }
    for (i64 row = 0; row < number; row++)
        if (-room.bits[row] > limit * double(room.counts(row, last))) room.worths[row] = -INF;
}

// Marks classes that break a bound of any other kind.
inline void judge_otherwise(const Room& room, i64 number, const Criteria& required, i64 bound) {
    Array<i64, 2> counts = room.counts;
    counts.shape[0] = number;
    for (i64 row = 0; row < number; row++) room.marks[row] = room.worths[row] < 0;
    const Policy policy{required.policy.laid, required.policy.logs, room.sums};
    mark_beyond(Dense<i64>{counts}, policy, bound, std::numeric_limits<i64>::max(), room.marks);
    for (i64 row = 0; row < number; row++)
        if (room.marks[row]) room.worths[row] = -INF;
}

// Adds what acceptable classes are worth.
inline void add_worth(const Room& room, i64 number, const Worth& worth) {
    const i64 last = room.counts.shape[1] - 1;
    for (i64 attribute = 0; attribute < worth.weights.size(); attribute++) {
        const double weight = worth.weights[attribute], cost = worth.per_value[attribute];
        const i64 start = worth.spans(attribute, 0), stop = worth.spans(attribute, 1);
        set_entropy(room, number, start, stop);
        for (i64 row = 0; row < number; row++) room.worths[row] -= weight * room.bits[row];
        if (cost > 0)
            for (i64 row = 0; row < number; row++)
                for (i64 column = start; column < stop; column++)
                    room.worths[row] -= cost * double(room.counts(row, column) > 0);
    }
    if (worth.each == 0 && !worth.by_size.size()) return;
    for (i64 row = 0; row < number; row++) {
        const i64 records = room.counts(row, last);
        if (records > 0) {
            room.worths[row] += worth.each;
            if (worth.by_size.size()) room.worths[row] += worth.by_size[records];
        }
    }
}

// The worth of the first classes, -inf for one that breaks a bound, 0 for one without records.
//
// Bound by bound and not class by class: the loops over classes are vectors to the processor.
inline void judge(const Room& room, i64 number, const Criteria& required) {
    const Laid& laid = required.policy.laid;
    const i64 last = room.counts.shape[1] - 1;
    room.held[1] = -1;
    for (i64 row = 0; row < number; row++) {
        const i64 records = room.counts(row, last);
        room.worths[row] = 0 < records && double(records) < required.least ? -INF : 0.0;
    }
    // Where only sizes count, no logarithm does.
    const bool needed = laid.size() + required.worth.weights.size() > 0;
    for (i64 column = 0; needed && column <= last; column++) {
        double* terms = room.terms(column).data;
        for (i64 row = 0; row < number; row++)
            terms[row] = required.policy.logs.xlogx(room.counts(row, column));
    }
    for (i64 bound = 0; bound < laid.size(); bound++) {
        const i64 kind = laid.facts(bound, KNOWN) > 0 ? SIZE : laid.facts(bound, KIND);
        if (kind == ENTROPY)
            judge_entropy(room, number, laid, bound);
        else if (kind == DIVERGENCE)
            judge_divergence(room, number, laid, bound);
        else
            judge_otherwise(room, number, required, bound);
    }
    add_worth(room, number, required.worth);
}

}  // namespace anonymizer
