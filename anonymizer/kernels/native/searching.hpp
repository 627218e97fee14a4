// Searches of a lattice: which node next, its classes, its verdict, and what follows from that.
//
// Python is asked only for verdicts that need it (`ASK`), and between lots of nodes (`PAUSE`), when it
// may interrupt and show progress.
#pragma once

#include "lattice.hpp"

namespace anonymizer {

// The searches; the last one looks at a single node.
enum Search { BISECTION, DESCENT, SUPPRESSED, LOOK };

// Why a search comes back: it is through, Python may look in, or has to judge a node.
enum Reason { DONE, PAUSE, ASK };

// The phases of a search with suppression.
enum Phase { DECIDING, SCORING };

// What stands for the next node where there is none: something was decided, or all is.
constexpr i64 OPENED = -1, THROUGH = -2;

// What a verdict tells, and the entries of `Terms::facts`: see `driver`.
enum Finding { HOPEFUL, LOST, BOUND, FITS, SCORE, CLASSES, GONE, ASKS };
enum Term {
    GOAL, LEAST_RECORDS, MOST, RECORDS, LASTS, REMOVES, EXEMPT, ABSOLUTE, GEOMETRIC, LEAST_LEFT,
    LASTING, SMALL
};
enum Goal { LEVELS, SQUARES, NUMBER, INFORMATION };

// A policy and an objective: see `driver.Terms`.
template <class T>
struct Terms {
    Array<i64> facts;
    Laid laid, lasting, sized;
    Array<bool, 2> hidden;
    Logs logs;
    Array<i64> sums;
    Array<T, 2> together;
    Array<bool> broken, small;
    Array<i64, 2> spans;
    Array<double> weights;
    Array<i64> margins;
    Array<double, 2> totals;
    Array<double> shares, extra;
    Array<i64, 2> begins, cells;

    static Terms of(Given& given) {
        Terms terms;
        terms.facts = given.array<i64>();
        terms.laid = Laid::of(given);
        terms.lasting = Laid::of(given);
        terms.sized = Laid::of(given);
        terms.hidden = given.array<bool, 2>();
        terms.logs = Logs::of(given);
        given.read(terms.sums, terms.together, terms.broken, terms.small, terms.spans,
                   terms.weights, terms.margins, terms.totals, terms.shares, terms.extra,
                   terms.begins, terms.cells);
        return terms;
    }

    Policy policy(const Laid& laid) const { return {laid, logs, sums.data}; }

    // The records of the suppressed classes, which `together` holds as one.
    i64 together_records() const { return i64(together(0, together.shape[1] - 1)); }
};

// Judges the node whose classes were rolled up last, and drives a search.
template <class T, bool LISTED>
class Driver {
    using Own = typename Sets<T, LISTED>::Classes;

    const Nodes nodes;
    const Sets<T, LISTED> sets;
    const Terms<T> terms;
    const Board board;
    double* const verdict;

    i64 fact(Term which) const { return terms.facts[which]; }

    // Marks classes that break bounds; their records, until beyond the budget.
    i64 lost(const Own& classes, i64 least, const Laid& laid, const Array<bool>& broken) const {
        return broken_classes(classes, double(least), terms.policy(laid), fact(MOST), broken.data);
    }

    // Whether all marked classes break what sensitive values do not decide.
    bool all_small(const Own& classes, i64 small) const {
        const i64 rows = classes.counts.size(), last = classes.counts.shape[1] - 1;
        if (terms.sized.size()) lost(classes, small, terms.sized, terms.small);
        for (i64 row = 0; row < rows; row++) {
            const bool fits = terms.sized.size() ? terms.small[row]
                                                 : i64(classes.counts(row, last)) < small;
            if (terms.broken[row] && !fits) return false;
        }
        return true;
    }

    // Whether the suppressed classes as one break bounds.
    bool together_break(const Laid& laid) const {
        return breaks(Dense<T>{terms.together}, 0, terms.policy(laid));
    }

    // Merges the marked classes into one dense row; how many they are.
    i64 merge_broken(const Own& classes) const {
        const Array<T, 2>& counts = classes.counts;
        T* together = terms.together.data;
        terms.together.fill(0);
        const i64 before = terms.together.shape[1] - counts.shape[1];
        i64 merged = 0;
        for (i64 row = 0; row < counts.size(); row++) {
            if (!terms.broken[row]) continue;
            merged++;
            for (i64 column = 0; column < counts.shape[1]; column++)
                together[before + column] += counts(row, column);
            if constexpr (LISTED) {
                const Entries<T>& entries = classes.entries;
                for (i64 entry = entries.starts[row]; entry < entries.starts[row + 1]; entry++)
                    together[entries.places[entry]] += entries.numbers[entry];
            }
        }
        return merged;
    }

    // Whether a class may be `*` in every attribute: it goes with suppressed ones.
    bool may_hide_all(i64 place) const {
        for (i64 axis = 0; axis < nodes.attributes(); axis++)
            if (!terms.hidden(axis, nodes.level(place, axis))) return false;
        return true;
    }

    // Suppresses the marked classes: whether they are removed, or else are one class.
    bool suppress(const Own& classes, i64 place) const {
        const i64 number = merge_broken(classes);
        bool removed = fact(REMOVES) > 0;
        if (!removed && !fact(EXEMPT))
            removed = terms.together_records() < fact(LEAST_RECORDS) || together_break(terms.laid);
        verdict[ASKS] = may_hide_all(place) || (removed && !fact(ABSOLUTE));
        verdict[CLASSES] += double(!removed) - double(number);
        return removed;
    }

    // The most that a node, or any above it, can score by class sizes: see `Objective.bound`.
    double bound_by_size(const Array<T, 2>& counts) const {
        const i64 floor = fact(LEAST_LEFT), last = counts.shape[1] - 1;
        i64 squares = 0, small = 0, large = 0;
        for (i64 row = 0; row < counts.size(); row++) {
            const i64 size = i64(counts(row, last));
            squares += size * std::max(size, floor);
            if (size < floor)
                small += size;
            else
                large++;
        }
        if (fact(GOAL) == SQUARES) return -double(squares);
        const double rest = small ? double(small) / double(floor) : 0.0;
        return double(large) + rest + double(small > 0 && fact(MOST) > 0);
    }

    // The score by class sizes, so many records of marked classes being suppressed.
    double score_by_size(const Array<T, 2>& counts, i64 lost) const {
        const i64 last = counts.shape[1] - 1;
        i64 squares = 0, number = 0;
        for (i64 row = 0; row < counts.size(); row++) {
            if (lost && terms.broken[row]) continue;
            const i64 size = i64(counts(row, last));
            squares += size * size;
            number++;
        }
        if (fact(GOAL) == SQUARES) return -double(squares + lost * fact(RECORDS));
        return double(number + (lost > 0));
    }

    // Minus the weighted sum of what attributes cost, suppressed values as much as at the top.
    double score_by_levels(i64 place, const Array<T, 2>& counts, const i32* members, i64 lost) const {
        const i64 last = counts.shape[1] - 1;
        double summed = 0.0;
        for (i64 axis = 0; axis < nodes.attributes(); axis++) {
            const i64 level = nodes.level(place, axis), begin = terms.begins(axis, level);
            double cost = terms.totals(axis, level);
            for (i64 row = 0; lost && row < counts.size(); row++)
                if (terms.broken[row])
                    cost += double(counts(row, last)) *
                            terms.extra[begin + terms.cells(members[row], axis)];
            const double mean = cost / double(fact(RECORDS));
            summed += terms.shares[axis] * (fact(GEOMETRIC) ? std::log1p(mean) : mean);
        }
        return fact(GEOMETRIC) ? -std::expm1(summed) : -summed;
    }

    // Sum of n_g H(W|g) over classes, in bits; of those not marked, where any record is lost.
    double uncertainty(const Own& classes, i64 start, i64 stop, i64 lost) const {
        const i64 last = classes.counts.shape[1] - 1;
        double bits = 0.0;
        for (i64 row = 0; row < classes.counts.size(); row++) {
            if (lost && terms.broken[row]) continue;
            const double inside = bits_within(classes.about(row, start, stop), terms.logs);
            bits += terms.logs.xlogx(i64(classes.counts(row, last))) - inside;
        }
        return bits;
    }

    // I(X~;W) in bits, summed over attributes: see `MutualInformation`.
    double information(const Own& classes, i64 lost, bool removed) const {
        const Dense<T> together{terms.together};
        const i64 left = fact(RECORDS) - (removed ? lost : 0);
        double total = 0.0;
        for (i64 attribute = 0; attribute < terms.weights.size(); attribute++) {
            const i64 start = terms.spans(attribute, 0), stop = terms.spans(attribute, 1);
            double bits = terms.logs.xlogx(left);
            for (i64 column = start; column < stop; column++) {
                const i64 gone = removed ? i64(terms.together(0, column)) : 0;
                const i64 margin = terms.margins[column] - gone;
                if (margin > 0) bits -= terms.logs.xlogx(margin);
            }
            bits -= uncertainty(classes, start, stop, lost);
            if (lost && !removed)
                bits -= terms.logs.xlogx(lost) -
                        bits_within(together.about(0, start, stop), terms.logs);
            total += terms.weights[attribute] * std::max(bits, 0.0) / double(left);
        }
        return total;
    }

    // The score of a node by its information, and its bound.
    void inform(const Own& classes, bool suppresses, i64 lost, bool removed) const {
        const bool fits = verdict[FITS] > 0;
        if (fits) verdict[SCORE] = information(classes, lost, removed);
        if (suppresses) {
            const double bits = fits && !lost ? verdict[SCORE] : information(classes, 0, false);
            verdict[BOUND] = bits / (1 - double(fact(MOST)) / double(fact(RECORDS)));
        }
    }

    // The score of a node by its levels or by class sizes, and what bounds it.
    void score(i64 place, const Array<T, 2>& counts, const i32* members, bool suppresses,
               i64 lost) const {
        const bool fits = verdict[FITS] > 0;
        if (fact(GOAL) == LEVELS) {
            if (fits) verdict[SCORE] = score_by_levels(place, counts, members, lost);
            return;
        }
        if (suppresses) verdict[BOUND] = bound_by_size(counts);
        if (fits) verdict[SCORE] = score_by_size(counts, lost);
    }

    // Judges the classes that were rolled up last.
    void judge_node(i64 place, bool suppresses) const {
        const i64 set = sets.marks[LAST], small = fact(SMALL);
        const Own classes = sets.classes(set);
        verdict[ASKS] = 0;
        verdict[FITS] = 0;
        verdict[HOPEFUL] = 1;
        verdict[BOUND] = INF;
        i64 gone = 0;
        bool removed = false;
        if (suppresses) {
            gone = lost(classes, fact(LASTING), terms.lasting, terms.broken);
            verdict[LOST] = double(gone);
            verdict[HOPEFUL] = gone <= fact(MOST);
        }
        if (!suppresses || (verdict[HOPEFUL] > 0 && !fact(LASTS)))
            gone = lost(classes, fact(LEAST_RECORDS), terms.laid, terms.broken);
        bool fits = gone <= fact(MOST);
        verdict[CLASSES] = double(sets.rows(set));
        if (fits && gone && small) fits = all_small(classes, small);
        if (fits && gone) {
            removed = suppress(classes, place);
            fits = !removed || gone < fact(RECORDS);
            if (removed && small && !fact(REMOVES))
                fits = fits && (terms.together_records() < small || together_break(terms.sized));
        }
        verdict[FITS] = fits;
        verdict[GONE] = double(gone);
        if (fact(GOAL) == INFORMATION)
            inform(classes, suppresses, gone, removed);
        else
            score(place, classes.counts, sets.members.data + sets.spans(set, BEGIN), suppresses, gone);
    }

    // Enters what was found at a node, and what follows for those above and below.
    void enter(Search search, i64 place) const {
        const Array<i64>& state = board.state;
        const bool fits = verdict[FITS] > 0;
        double* row = board.log(state[COUNTED]++).data;
        row[LOGGED_PLACE] = double(place);
        row[LOGGED_FITS] = fits;
        row[LOGGED_SCORE] = verdict[SCORE];
        row[LOGGED_CLASSES] = verdict[CLASSES];
        if (search == DESCENT) {
            board.status[place] = fits ? FEASIBLE : INFEASIBLE;
            if (fits) board.append_below(nodes, place);
            return;
        }
        const bool decides = board.status[place] == UNDECIDED;
        bool hopeful = fits;
        double bound = INF;
        i64 gone = 0;
        if (search == SUPPRESSED) {
            hopeful = verdict[HOPEFUL] > 0;
            if (verdict[BOUND] < board.ceilings[place]) bound = verdict[BOUND];
            if (verdict[LOST] > double(board.lost[place])) gone = i64(verdict[LOST]);
            board.done[place] = true;
            if (fits) board.best[BEST] = std::max(board.best[BEST], verdict[SCORE]);
        }
        for (int above = 0; above < 2; above++) {
            i64 mark = -1;
            if (decides && hopeful == (above == 1)) mark = hopeful ? FEASIBLE : INFEASIBLE;
            const i64 least = above ? 0 : gone;
            const double ceiling = above ? bound : INF;
            if (mark >= 0 || ceiling < INF || least > 0)
                board.spread(nodes, place, above == 1, mark, ceiling, least);
        }
    }

    // The next node to count.
    i64 next(Search search, i64 most) const {
        const Array<i64>& state = board.state;
        if (search == DESCENT) {
            if (state[AT] == state[LENGTH] || state[COUNTED] == most) return THROUGH;
            return board.chain[state[AT]++];
        }
        if (state[PHASE] == SCORING) {
            if (state[AT] == state[LENGTH]) {
                state[AT] = 0;
                state[LENGTH] = board.most_promising(state[BATCH]);
                state[BATCH] = std::min(2 * state[BATCH], most);
                if (state[LENGTH] == 0) return THROUGH;
            }
            return board.chain[state[AT]++];
        }
        if (state[LOW] <= state[HIGH]) {
            const i64 place = board.bisected();
            return place < 0 ? OPENED : place;
        }
        if (board.next_chain(nodes)) {
            // The nodes above have been ruled out by their bounds: the highest is most likely hopeless.
            const bool first = board.best[KNOWN_BOUNDS] > 0 && board.best[BEST] > -INF;
            return first ? board.chain[state[LENGTH] - 1] : OPENED;
        }
        if (search == BISECTION) return THROUGH;
        state[PHASE] = SCORING;
        state[BATCH] = 1;
        state[LENGTH] = state[AT] = 0;
        return OPENED;
    }

  public:
    Driver(Given& given, double* verdict)
        : nodes(Nodes::of(given)),
          sets(Sets<T, LISTED>::of(given)),
          terms(Terms<T>::of(given)),
          board(Board::of(given)),
          verdict(verdict) {}

    // Looks at a single node; nothing is entered.
    Reason look(i64 place) const {
        sets.fetch(nodes, place);
        judge_node(place, true);
        return verdict[ASKS] > 0 ? ASK : DONE;
    }

    // Searches until it is done, or Python has to decide; why it comes back.
    //
    // A node that Python was asked about is entered with the verdict that it gave. `most` nodes are
    // counted by a descent, or scored together at the most. Python may look in after a `lot` of rows
    // rolled up.
    Reason advance(Search search, i64 most, i64 lot) const {
        i64& asked = board.state[ASKED];
        const i64 until = sets.marks[ROLLED] + lot;
        while (true) {
            i64 place = asked - 1;
            if (place < 0) {
                place = next(search, most);
                if (place == THROUGH) return DONE;
                if (place == OPENED) continue;
                sets.fetch(nodes, place);
                judge_node(place, search == SUPPRESSED);
                if (verdict[ASKS] > 0) {
                    asked = place + 1;
                    return ASK;
                }
            }
            asked = 0;
            enter(search, place);
            if (sets.marks[ROLLED] > until) return PAUSE;
        }
    }
};

}  // namespace anonymizer
