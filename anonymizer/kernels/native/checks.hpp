// The checks of classes: which of them break a bound, by how much, and their uncertainty.
#pragma once

#include <algorithm>

#include "counting.hpp"

namespace anonymizer {

// As `rules.Kind`.
enum Kind : i64 {
    SIZE, ENTROPY, MILLER_MADOW, GRASSBERGER, DISTINCT, RECURSIVE, DIVERGENCE, SHARES, TRANSPORT,
    POPULATION, PRESENCE
};

// The columns of `Laid::facts`, and the layers of `Laid::rows`.
enum Fact { KIND, START, STOP, RANK, FIRST_RUN, KNOWN };
enum Layer { LOWER, UPPER, ORDER, PLACE };

constexpr double LN2 = 0.6931471805599453;

// Bits that the correction of Miller and Madow adds to n H for every value beyond the first.
constexpr double CORRECTION = 1 / (2 * LN2);

// What a class is beyond a bound that is broken by equality.
constexpr double LEAST = 1e-12;

// By how many bits an entropy is out of reach to be refused unsummed: more than rounding.
constexpr double SURELY = 1e-9;

// Bounds as arrays: see `rules.Laid`.
struct Laid {
    Array<i64, 2> facts;
    Array<double> limits;
    Array<double, 3> rows;
    Array<double, 2> runs;

    static Laid of(Given& given) {
        Laid laid;
        given.read(laid.facts, laid.limits, laid.rows, laid.runs);
        return laid;
    }

    i64 size() const { return limits.size(); }
};

// n log2 n and n G(n), from tables where these reach.
struct Logs {
    Array<double> plain, grassbergers;

    static Logs of(Given& given) {
        Logs logs;
        given.read(logs.plain, logs.grassbergers);
        return logs;
    }

    double xlogx(i64 count) const {
        return count < plain.size() ? plain[count] : double(count) * std::log2(double(count));
    }

    // Beyond the table the series, whose further terms are lost in rounding.
    double grassberger(i64 count) const {
        if (count < grassbergers.size()) return grassbergers[count];
        const double half = double(count / 2);
        return double(count) * (std::log2(2.0 * half) + 1 / (24.0 * half * half * LN2));
    }
};

// Some columns of one class: of a dense one all of them, of a sparse one those that occur.
template <class T, bool LISTED>
struct Values {
    static constexpr bool listed = LISTED;
    const i32* places;
    const T* numbers;
    i64 begin, end;

    i64 count(i64 entry) const { return i64(numbers[entry]); }
    i64 column(i64 entry) const { return LISTED ? i64(places[entry]) : entry; }

    i64 total() const {
        i64 sum = 0;
        for (i64 entry = begin; entry < end; entry++) sum += count(entry);
        return sum;
    }
};

// Classes of which every column stands in a row.
template <class T>
struct Dense {
    Array<T, 2> counts;

    Values<T, false> about(i64 row, i64 start, i64 stop) const {
        return {nullptr, counts.data + row * counts.shape[1], start, stop};
    }
};

// The first of some ascending places that is not before a column, by bisection; the end if none is.
inline i64 first_from(const i32* places, i64 begin, i64 end, i64 column) {
    if (begin == end || places[begin] >= column) return begin;
    if (places[end - 1] < column) return end;
    while (end - begin > 1) {  // the entry at begin is before the column, that before end is not
        const i64 middle = (begin + end) / 2;
        (places[middle] < column ? begin : end) = middle;
    }
    return end;
}

// Classes whose values that occur are listed; `counts` are the trailing columns.
template <class T>
struct Sparse {
    Array<T, 2> counts;
    Entries<T> entries;

    Values<T, true> about(i64 row, i64 start, i64 stop) const {
        const i64 begin = entries.starts[row], end = entries.starts[row + 1];
        return {entries.places, entries.numbers, first_from(entries.places, begin, end, start),
                first_from(entries.places, begin, end, stop)};
    }
};

// Bounds, and what checking them needs: `sums` has room for one number more than there are columns.
struct Policy {
    Laid laid;
    Logs logs;
    i64* sums;
};

// The checks have the same arguments: the values of a class that the bound is about, its records, the
// policy and the bound. They say how far the class is beyond it, times n, so that nothing is divided;
// above 0 where it is broken; of sparse classes perhaps only whether.

// Too little entropy: it is log2 of the values, or records, at most. No sum is needed where these are
// too few, and none of many small classes, of which most nodes are made.
template <class V>
double uncertain(V values, i64 records, const Policy& policy, i64 bound) {
    const double limit = policy.laid.limits[bound];
    if (V::listed) {
        const i64 most = std::min(values.end - values.begin, records);
        if (most > 0 && limit > policy.logs.xlogx(most) / double(most) + SURELY) return LEAST;
    }
    double bits = policy.logs.xlogx(records);
    for (i64 entry = values.begin; entry < values.end; entry++) {
        const i64 count = values.count(entry);
        if (count > 0) bits -= policy.logs.xlogx(count);
    }
    return limit * double(records) - bits;
}

// Too little entropy as it is estimated, by Grassberger or else by Miller and Madow.
template <class V>
double unlikely(V values, i64 records, const Policy& policy, i64 bound) {
    const bool by_grassberger = policy.laid.facts(bound, KIND) == GRASSBERGER;
    double bits = policy.logs.xlogx(records), extra = -CORRECTION;
    for (i64 entry = values.begin; entry < values.end; entry++) {
        const i64 count = values.count(entry);
        if (count > 0) {
            extra += CORRECTION;
            bits -= by_grassberger ? policy.logs.grassberger(count) : policy.logs.xlogx(count);
        }
    }
    if (!by_grassberger) bits += extra;
    return policy.laid.limits[bound] * double(records) - bits;
}

// Too far from the table, in bits.
template <class V>
double divergent(V values, i64 records, const Policy& policy, i64 bound) {
    double bits = -policy.logs.xlogx(records);
    for (i64 entry = values.begin; entry < values.end; entry++) {
        const i64 count = values.count(entry);
        if (count > 0) {
            const double logarithm = policy.laid.rows(UPPER, bound, values.column(entry));
            bits += policy.logs.xlogx(count) - double(count) * logarithm;
        }
    }
    return bits - policy.laid.limits[bound] * double(records);
}

// The largest share that a value must have which does not occur in a sparse class.
template <class V>
double most_absent(V values, const Laid& laid, i64 bound) {
    double most = 0.0;
    i64 entry = values.begin;
    for (i64 column = laid.facts(bound, START); column < laid.facts(bound, STOP); column++) {
        if (entry < values.end && values.column(entry) == column)
            entry++;
        else
            most = std::max(most, laid.rows(LOWER, bound, column));
    }
    return most;
}

// A value has too large or too small a share. Where all values that must occur do, the others need
// no look.
template <class V>
double disclosed(V values, i64 records, const Policy& policy, i64 bound) {
    const Laid& laid = policy.laid;
    double beyond = 0.0;
    i64 needed = 0;
    for (i64 entry = values.begin; entry < values.end; entry++) {
        const double count = double(values.count(entry));
        const i64 column = values.column(entry);
        const double lower = laid.rows(LOWER, bound, column);
        needed += lower > 0;
        beyond = std::max(beyond, double(records) * lower - count);
        beyond = std::max(beyond, count - double(records) * laid.rows(UPPER, bound, column));
    }
    if (V::listed && needed < laid.facts(bound, RANK))
        beyond = std::max(beyond, double(records) * most_absent(values, laid, bound));
    return beyond;
}

// Too few distinct values.
template <class V>
double uniform_values(V values, i64, const Policy& policy, i64 bound) {
    const double limit = policy.laid.limits[bound];
    i64 distinct = 0;
    for (i64 entry = values.begin; entry < values.end; entry++) {
        distinct += values.count(entry) > 0;
        if (double(distinct) >= limit) return 0.0;
    }
    return limit - double(distinct);
}

// One value is too frequent compared with the less frequent ones: the rank - 1 most frequent ones
// stand first in `sums`, sorted by insertion.
template <class V>
double dominated(V values, i64, const Policy& policy, i64 bound) {
    const i64 most = policy.laid.facts(bound, RANK) - 1;
    const double limit = policy.laid.limits[bound];
    i64* sums = policy.sums;
    i64 kept = 0, tail = 0, largest = 0;
    for (i64 entry = values.begin; entry < values.end; entry++) {
        const i64 count = values.count(entry);
        largest = std::max(largest, count);
        i64 place = kept, out = count;
        while (place > 0 && sums[place - 1] < count) place--;
        if (kept < most) {
            kept++;
            out = 0;
        } else if (place < most) {
            out = sums[most - 1];
        }
        if (place < most) {
            for (i64 later = kept - 1; later > place; later--) sums[later] = sums[later - 1];
            sums[place] = count;
        }
        tail += out;
    }
    if (tail > 0 && double(largest) / double(tail) < limit) return 0.0;
    // Where both sides are equal the bound is broken: beyond by next to nothing, yet beyond.
    return std::max(double(largest) - limit * double(tail), LEAST);
}

// The first of some runs, from one to another, in which a column of `laid.runs` is above a number.
inline i64 first_above(const Laid& laid, i64 run, i64 stop, i64 column, double number) {
    while (run < stop) {
        const i64 middle = (run + stop) / 2;
        if (laid.runs(middle, column) > number)
            stop = middle;
        else
            run = middle + 1;
    }
    return run;
}

// The same where it is likely to be a certain one, as each value mostly has a run of its own.
inline i64 first_above(const Laid& laid, i64 run, i64 stop, i64 column, double number, i64 likely) {
    const bool found = run <= likely && likely < stop && laid.runs(likely, column) > number &&
                       (likely == run || laid.runs(likely - 1, column) <= number);
    return found ? likely : first_above(laid, run, stop, column, number);
}

// As `distant`, of runs that begin at the first value, of a sparse class: between two values that occur
// the records inside are the same, and the masses rise. So runs are added up by what they sum up to.
template <class V>
double distant_along(V values, i64 records, const Policy& policy, i64 bound) {
    const Laid& laid = policy.laid;
    const i64 first = laid.facts(bound, FIRST_RUN), stop = laid.facts(bound + 1, FIRST_RUN);
    i64* entries = policy.sums;  // by their places in the order, which come first in each number
    i64 number = 0;
    for (i64 entry = values.begin; entry < values.end; entry++)
        entries[number++] = i64(laid.rows(PLACE, bound, values.column(entry))) << 32 | (entry - values.begin);
    std::sort(entries, entries + number);
    // The sum of a column of weights over runs.
    const auto sum = [&](i64 run, i64 until, i64 column) {
        const auto before = [&](i64 place) {
            if (place < stop) return laid.runs(place, column);
            const double weight = laid.runs(stop - 1, 3);
            return laid.runs(stop - 1, column) + (column == 4 ? weight : weight * laid.runs(stop - 1, 2));
        };
        return run < until ? before(until) - before(run) : 0.0;
    };
    const double most = laid.limits[bound] * double(records);
    double moved = 0.0;
    i64 inside = 0, run = first;
    // No run moves less than nothing, but for rounding.
    for (i64 place = 0; place <= number && moved <= most + SURELY * double(records); place++) {
        const i64 next = place == number ? 0 : entries[place] >> 32;
        const i64 until =
            place == number ? stop : first_above(laid, run, stop, 1, double(next), first + next);
        const i64 above = first_above(laid, run, until, 2, double(inside) / double(records));
        moved += double(inside) * (sum(run, above, 4) - sum(above, until, 4));
        moved += double(records) * (sum(above, until, 5) - sum(run, above, 5));
        if (place < number) inside += values.count(values.begin + (entries[place] & 0xffffffff));
        run = until;
    }
    return moved - most;
}

// Too much earth to move, too far: the records of runs of values, by sums of the values in order.
template <class V>
double distant(V values, i64 records, const Policy& policy, i64 bound) {
    const Laid& laid = policy.laid;
    if (V::listed && laid.facts(bound, RANK) > 0) return distant_along(values, records, policy, bound);
    const i64 start = laid.facts(bound, START), number = laid.facts(bound, STOP) - start;
    i64* sums = policy.sums;
    sums[0] = 0;
    if (V::listed) {
        for (i64 place = 0; place < number; place++) sums[place + 1] = 0;
        for (i64 entry = values.begin; entry < values.end; entry++)
            sums[i64(laid.rows(PLACE, bound, values.column(entry))) + 1] = values.count(entry);
        for (i64 place = 0; place < number; place++) sums[place + 1] += sums[place];
    } else {
        for (i64 place = 0; place < number; place++) {
            const i64 column = start + i64(laid.rows(ORDER, bound, start + place));
            sums[place + 1] = sums[place] + values.count(column);
        }
    }
    double moved = 0.0;
    for (i64 run = laid.facts(bound, FIRST_RUN); run < laid.facts(bound + 1, FIRST_RUN); run++) {
        const i64 inside = sums[i64(laid.runs(run, 1))] - sums[i64(laid.runs(run, 0))];
        moved += laid.runs(run, 3) * std::abs(double(inside) - double(records) * laid.runs(run, 2));
    }
    return moved - laid.limits[bound] * double(records);
}

// Too few or too many of the people of the population.
inline double present(i64 records, i64 population, const Laid& laid, i64 bound) {
    const double upper = laid.rows(UPPER, bound, laid.facts(bound, START));
    return std::max(laid.limits[bound] * double(population) - double(records),
                    double(records) - upper * double(population));
}

// Calls what it is given with the check of a kind of bound on values.
template <class V, class Use>
auto with_check(i64 kind, Use use) {
    switch (kind) {
        case ENTROPY: return use(uncertain<V>);
        case DIVERGENCE: return use(divergent<V>);
        case MILLER_MADOW:
        case GRASSBERGER: return use(unlikely<V>);
        case SHARES: return use(disclosed<V>);
        case DISTINCT: return use(uniform_values<V>);
        case RECURSIVE: return use(dominated<V>);
        default: return use(distant<V>);
    }
}

// How far a class is beyond a bound, times n; above 0 where it breaks it. Of sparse classes perhaps only
// whether. The population's records stand before all records.
template <class Classes>
double beyond(Classes of, i64 row, const Policy& policy, i64 bound) {
    const Laid& laid = policy.laid;
    const i64 kind = laid.facts(bound, KIND), last = of.counts.shape[1] - 1;
    i64 records = i64(of.counts(row, last));
    if (kind == PRESENCE) return present(records, i64(of.counts(row, last - 1)), laid, bound);
    if (records == 0) return 0.0;
    if (kind == POPULATION) return laid.limits[bound] - double(of.counts(row, last - 1));
    const auto values = of.about(row, laid.facts(bound, START), laid.facts(bound, STOP));
    if (laid.facts(bound, KNOWN) > 0) {
        records = values.total();
        if (records == 0) return 1.0;
    }
    return with_check<std::remove_const_t<decltype(values)>>(
        kind, [&](auto check) { return check(values, records, policy, bound); });
}

// Whether a class breaks a bound other than on size.
template <class Classes>
bool breaks(Classes of, i64 row, const Policy& policy) {
    for (i64 bound = 0; bound < policy.laid.size(); bound++)
        if (beyond(of, row, policy, bound) > 0) return true;
    return false;
}

// The sum over bounds of what a dense class is beyond each, 0 if it breaks none: bits or records, so
// that it adds up over classes as what they keep does.
template <class T>
double excess(Dense<T> of, i64 row, const Policy& policy) {
    double total = 0.0;
    for (i64 bound = 0; bound < policy.laid.size(); bound++)
        total += std::max(0.0, beyond(of, row, policy, bound));
    return total;
}

// Marks classes of too few records; these records, until beyond the most. Classes beyond the most are
// not marked, nor set to be unmarked.
template <class T>
i64 mark_small(Array<T, 2> counts, double least, i64 most, bool* marks) {
    const i64 last = counts.shape[1] - 1;
    i64 records = 0;
    for (i64 row = 0; row < counts.size(); row++) {
        const i64 size = i64(counts(row, last));
        marks[row] = double(size) < least && size > 0;
        if (marks[row]) {
            records += size;
            if (records > most) return records;
        }
    }
    return records;
}

// Marks classes beyond a bound on values that were not marked.
template <class Classes, class Check>
i64 mark_by(Check check, Classes of, const Policy& policy, i64 bound, i64 most, bool* marks) {
    const Laid& laid = policy.laid;
    const i64 start = laid.facts(bound, START), stop = laid.facts(bound, STOP);
    const i64 last = of.counts.shape[1] - 1;
    const bool known = laid.facts(bound, KNOWN) > 0;
    i64 found = 0;
    for (i64 row = 0; row < of.counts.size(); row++) {
        const i64 size = i64(of.counts(row, last));
        if (marks[row] || size == 0) continue;
        const auto values = of.about(row, start, stop);
        const i64 records = known ? values.total() : size;
        if (check(values, records, policy, bound) > 0 || records == 0) {
            marks[row] = true;
            found += size;
            if (found > most) return found;
        }
    }
    return found;
}

// Marks classes beyond a bound about the population that were not marked.
template <class T>
i64 mark_by_population(Array<T, 2> counts, bool of_presence, const Laid& laid, i64 bound, i64 most,
                       bool* marks) {
    const i64 last = counts.shape[1] - 1;
    i64 found = 0;
    for (i64 row = 0; row < counts.size(); row++) {
        if (marks[row]) continue;
        const i64 records = i64(counts(row, last));
        const i64 population = i64(counts(row, std::max<i64>(last - 1, 0)));
        marks[row] = of_presence ? present(records, population, laid, bound) > 0
                                 : records > 0 && double(population) < laid.limits[bound];
        if (marks[row]) {
            found += records;
            if (found > most) return found;
        }
    }
    return found;
}

// Marks classes beyond a bound that were not marked; their records, until beyond the most.
template <class Classes>
i64 mark_beyond(Classes of, const Policy& policy, i64 bound, i64 most, bool* marks) {
    const i64 kind = policy.laid.facts(bound, KIND);
    if (kind == POPULATION || kind == PRESENCE)
        return mark_by_population(of.counts, kind == PRESENCE, policy.laid, bound, most, marks);
    return with_check<decltype(of.about(0, 0, 0))>(
        kind, [&](auto check) { return mark_by(check, of, policy, bound, most, marks); });
}

// Marks classes that break a bound; their records, until beyond the most. Marks are complete where
// the records are not beyond the most.
template <class Classes>
i64 broken_classes(Classes of, double least, const Policy& policy, i64 most, bool* marks) {
    i64 found = mark_small(of.counts, least, most, marks);
    for (i64 bound = 0; bound < policy.laid.size() && found <= most; bound++)
        found += mark_beyond(of, policy, bound, most - found, marks);
    return found;
}

// Sum of n_w log n_w over values, those of 0 left out.
template <class V>
double bits_within(V values, const Logs& logs) {
    double inside = 0.0;
    for (i64 entry = values.begin; entry < values.end; entry++) {
        const i64 count = values.count(entry);
        if (count > 0) inside += logs.xlogx(count);
    }
    return inside;
}

}  // namespace anonymizer
