// Merging cells into classes: agglomeration, then moves from class to class.
//
// A class is a row of counts as frequency sets have them, in 64 bits; the last row is room for two
// classes as one. The random numbers are its own (splitmix64): the same everywhere, whatever else runs.
#pragma once

#include <vector>

#include "single.hpp"

namespace anonymizer {

// A reduction of excess below this is rounding.
constexpr double LEAST_REDUCTION = 1e-12;

// The next 64 random bits.
inline u64 random_bits(u64* state) {
    state[0] += 0x9E3779B97F4A7C15;
    u64 bits = state[0];
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

inline i64 random_below(u64* state, i64 most) {
    return i64(((random_bits(state) >> 32) * u64(most)) >> 32);
}

inline double random_share(u64* state) { return double(random_bits(state) >> 11) / 9007199254740992.0; }

inline void add_row(Array<i64, 2> cells, i64 cell, Array<i64, 2> classes, i64 row, i64 times) {
    for (i64 column = 0; column < cells.shape[1]; column++)
        classes(row, column) += times * cells(cell, column);
}

// Classes that are merged: which row each is merged into, and what is required of them.
struct Merging {
    Array<i64, 2> classes;
    Array<i64> into;
    const Criteria& required;

    i64 size() const { return into.size(); }

    // Two classes as one, in the last row; that row.
    i64 together(i64 one, i64 other) const {
        const i64 last = classes.size() - 1;
        for (i64 column = 0; column < classes.shape[1]; column++)
            classes(last, column) = classes(one, column) + classes(other, column);
        return last;
    }

    double beyond(i64 row) const {
        const double records = double(classes(row, classes.shape[1] - 1));
        return std::max(0.0, required.least - records) +
               excess(Dense<i64>{classes}, row, required.policy);
    }

    double worth(i64 row) const { return worth_of(Dense<i64>{classes}, row, required); }
};

// The class that is furthest beyond its bounds for each of its records; -1: none is.
inline i64 worst_class(const Merging& merging, const std::vector<double>& beyond) {
    const i64 last = merging.classes.shape[1] - 1;
    i64 worst = -1;
    double most = 0.0;
    for (i64 row = 0; row < merging.size(); row++) {
        const double records = double(merging.classes(row, last));
        if (merging.into[row] == row && beyond[row] > most * records) {
            most = beyond[row] / records;
            worst = row;
        }
    }
    return worst;
}

// The class to merge with: least worth lost for what it takes off the excess of both. Where none takes
// anything off, the one of least worth lost.
inline i64 partner_of(const Merging& merging, i64 worst, const std::vector<double>& beyond,
                      const std::vector<double>& worths, u64* state, double noise) {
    i64 best = -1;
    double least = INF;
    bool any_reduces = false;
    for (i64 row = 0; row < merging.size(); row++) {
        if (merging.into[row] != row || row == worst) continue;
        const i64 both = merging.together(worst, row);
        const double reduced = beyond[worst] + beyond[row] - merging.beyond(both);
        double cost = worths[worst] + worths[row] - merging.worth(both);
        const bool reduces = reduced > LEAST_REDUCTION;
        if (any_reduces && !reduces) continue;
        if (reduces) cost /= reduced;
        if (noise > 0) cost *= 1 + noise * random_share(state);
        if (cost < least || (reduces && !any_reduces) || best < 0) {
            best = row;
            least = cost;
        }
        any_reduces = any_reduces || reduces;
    }
    return best;
}

// Merges classes until all are acceptable or one is left.
//
// Again and again the class that is furthest beyond its bounds, by record, is merged with the one that
// costs least worth for the excess that it takes off.
inline void agglomerate(const Merging& merging, u64* state, double noise) {
    std::vector<double> beyond(merging.size()), worths(merging.size());
    for (i64 row = 0; row < merging.size(); row++) {
        beyond[row] = merging.beyond(row);
        worths[row] = merging.worth(row);
    }
    i64 worst = worst_class(merging, beyond);
    while (worst >= 0) {
        const i64 row = partner_of(merging, worst, beyond, worths, state, noise);
        if (row < 0) return;
        add_row(merging.classes, row, merging.classes, worst, 1);
        merging.into[row] = worst;
        beyond[worst] = merging.beyond(worst);
        worths[worst] = merging.worth(worst);
        worst = worst_class(merging, beyond);
    }
}

// Merges the two classes of least cost until `most` are left, acceptable or not.
inline void join_cheapest(const Merging& merging, i64 most) {
    const i64 number = merging.size();
    const Array<i64> into = merging.into;
    std::vector<double> worths(number), costs(number, INF);
    std::vector<i64> partners(number, -1);
    i64 left = 0;
    for (i64 row = 0; row < number; row++) {
        worths[row] = merging.worth(row);
        left += into[row] == row;
    }
    // Notes the class that costs least to merge with one.
    const auto note_cheapest = [&](i64 row) {
        partners[row] = -1;
        costs[row] = INF;
        for (i64 other = 0; other < number; other++) {
            if (other == row || into[other] != other) continue;
            const double cost =
                worths[row] + worths[other] - merging.worth(merging.together(row, other));
            if (cost < costs[row]) {
                partners[row] = other;
                costs[row] = cost;
            }
        }
    };
    for (i64 row = 0; row < number; row++)
        if (into[row] == row && left > most) note_cheapest(row);
    while (left > most) {
        const i64 row = std::min_element(costs.begin(), costs.end()) - costs.begin();
        const i64 gone = partners[row];
        add_row(merging.classes, gone, merging.classes, row, 1);
        into[gone] = row;
        costs[gone] = INF;
        worths[row] = merging.worth(row);
        left--;
        for (i64 other = 0; other < number; other++) {
            const bool stale = other == row || partners[other] == row || partners[other] == gone;
            if (into[other] == other && stale) note_cheapest(other);
        }
    }
}

// Cells and the class that each is in, with what the classes are worth.
struct Annealing {
    Array<i64, 2> cells;
    i64* labels;
    Array<i64, 2> classes;
    double* worths;
    const Criteria& required;

    // Moves a cell from class a to b and, where there is another (>= 0), that from b to a.
    void exchange(i64 one, i64 other, i64 a, i64 b, i64 times) const {
        add_row(cells, one, classes, a, -times);
        add_row(cells, one, classes, b, times);
        if (other >= 0) {
            add_row(cells, other, classes, a, times);
            add_row(cells, other, classes, b, -times);
        }
    }
};

// Simulated annealing by moves and swaps of random cells between acceptable classes.
//
// Each step takes two random cells and moves the first to the class of the second, or swaps them. A
// step that no class breaks a bound after is taken when it loses nothing, otherwise by chance,
// exp(-loss / temperature).
inline void anneal(const Annealing& of, u64* state, i64 steps, double temperature) {
    for (i64 step = 0; step < steps; step++) {
        const i64 one = random_below(state, of.cells.size());
        i64 other = random_below(state, of.cells.size());
        const i64 a = of.labels[one], b = of.labels[other];
        if (a == b) continue;
        if (random_share(state) < 0.5) other = -1;
        of.exchange(one, other, a, b, 1);
        const double first = value_of(of.classes, a, of.required);
        const double second = first > -INF ? value_of(of.classes, b, of.required) : -INF;
        const double change = first + second - of.worths[a] - of.worths[b];
        if (change < 0 &&
            (temperature == 0 || random_share(state) >= std::exp(change / temperature))) {
            of.exchange(one, other, a, b, -1);
            continue;
        }
        of.worths[a] = first;
        of.worths[b] = second;
        of.labels[one] = b;
        if (other >= 0) of.labels[other] = a;
    }
}

}  // namespace anonymizer
