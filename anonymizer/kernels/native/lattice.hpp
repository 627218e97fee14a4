// The nodes of a lattice, the frequency sets at hand, and what is known of each node.
//
// Nodes are places: numbers in lexicographic order. The sets stand one behind the other in buffers that
// are made once; the one that was rolled up last stands behind those that are kept, and is kept by
// moving the mark behind it. Where the buffers are full, all but the base are forgotten: what is still
// needed is rolled up again.
#pragma once

#include "checks.hpp"

namespace anonymizer {

// Sets kept: looking for the smallest that serves takes as many comparisons.
constexpr i64 MOST_SETS = 2048;

// A frequency set is kept when it has at most this share of the classes it was made from.
constexpr double WORTH_KEEPING = 0.8;

// A stepping stone has at most this share of the classes of the one before.
constexpr double WORTH_A_STONE = 0.85;

// Bases that fit into the buffers at least: the base, a path of stones, and a result.
constexpr i64 ROOM = 10;

// Scores that differ by less are equal.
constexpr double TOLERANCE = 1e-9;

// The columns of `Nodes::axes`.
enum Axis { FLOOR, HEIGHT, STRIDE };

// The nodes of a lattice: see `driver.NodePlaces`.
struct Nodes {
    Array<i64, 2> axes;
    Array<u64> shifts, guards;
    Array<u64, 3> masks;
    Array<i64> telling;
    Array<double, 2> shares;
    Array<i64, 2> box;

    static Nodes of(Given& given) {
        Nodes nodes;
        given.read(nodes.axes, nodes.shifts, nodes.guards, nodes.masks, nodes.telling,
                   nodes.shares, nodes.box);
        return nodes;
    }

    i64 attributes() const { return axes.size(); }
    i64 stride(i64 axis) const { return axes(axis, STRIDE); }
    i64 height(i64 axis) const { return axes(axis, HEIGHT); }

    i64 level(i64 place, i64 axis) const { return (place / stride(axis)) % (height(axis) + 1); }

    // A node's levels in one word. Each has a guard bit above it, which stays set when a lower level is
    // subtracted: one subtraction compares two nodes in all attributes.
    u64 packed(i64 place) const {
        u64 word = 0;
        for (i64 axis = 0; axis < attributes(); axis++) word |= u64(level(place, axis)) << shifts[axis];
        return word;
    }
};

// The columns of `Sets::spans`, and the entries of `Sets::marks`.
enum Span { ROWS, BEGIN, STARTS, ENTRIES };
enum Stock { KEPT, LAST, ROLLED, FEW_ROWS };

// Buffers for frequency sets: see `driver.Sets`. LISTED: of sparse classes.
template <class T, bool LISTED>
struct Sets {
    using Classes = std::conditional_t<LISTED, Sparse<T>, Dense<T>>;

    Array<u64, 2> keys;
    Array<T, 2> counts;
    Array<i32> members;
    Array<i64> starts;
    Array<i32> places;
    Array<T> numbers;
    Array<i64, 2> spans;
    Array<u64> packed;
    Array<i32> stones;
    Array<i64> marks;
    Array<u64> mask;
    Array<i32> table, slots;
    Array<i32, 2> room;
    Array<T> scratch;
    Array<u64> marked;

    static Sets of(Given& given) {
        Sets sets;
        given.read(sets.keys, sets.counts, sets.members, sets.starts, sets.places, sets.numbers,
                   sets.spans, sets.packed, sets.stones, sets.marks, sets.mask, sets.table,
                   sets.slots, sets.room, sets.scratch, sets.marked);
        return sets;
    }

    i64 rows(i64 set) const { return spans(set, ROWS); }

    Array<T, 2> counts_of(i64 set) const {
        Array<T, 2> own = counts;
        own.data += spans(set, BEGIN) * counts.shape[1];
        own.shape[0] = rows(set);
        return own;
    }

    Entries<T> entries_of(i64 set) const {
        const i64 entry = spans(set, ENTRIES);
        return {starts.data + spans(set, STARTS), places.data + entry, numbers.data + entry};
    }

    Classes classes(i64 set) const {
        if constexpr (LISTED)
            return {counts_of(set), entries_of(set)};
        else
            return {counts_of(set)};
    }

    // The set that a node's is to be rolled up from, and -1; or a stone to be made, and from what.
    //
    // The stone is the node that agrees with it in the attributes of most entropy, and is the lowest in
    // others.
    std::pair<i64, i64> source_of(const Nodes& nodes, i64 place) const {
        i64 found = 0, stone = 0;
        for (i64 each = 0; each < nodes.telling.size(); each++) {
            const i64 axis = nodes.telling[each], level = nodes.level(place, axis);
            if (level == 0) continue;
            stone += level * nodes.stride(axis);
            if (stones[stone] == 0) {
                if (rows(found) > marks[FEW_ROWS]) return {found, stone};
                stones[stone] = i32(found + 1);
            }
            found = i64(stones[stone]) - 1;
        }
        const u64 guards = nodes.guards[0], word = guards | nodes.packed(place);
        i64 least = rows(found);
        for (i64 number = 1; number < marks[KEPT]; number++)
            if (rows(number) < least && ((word - packed[number]) & guards) == guards) {
                found = number;
                least = rows(number);
            }
        return {found, -1};
    }

    // Keeps the set that was rolled up last.
    void keep(const Nodes& nodes, i64 place) const {
        const i64 number = marks[KEPT], next = number + 1;
        packed[number] = nodes.packed(place);
        spans(next, BEGIN) = spans(number, BEGIN) + rows(number);
        if (LISTED) {
            spans(next, STARTS) = spans(number, STARTS) + rows(number) + 1;
            spans(next, ENTRIES) = spans(number, ENTRIES) + entries_of(number).starts[rows(number)];
        }
        marks[KEPT] = next;
    }

    // Forgets all sets but the base where a path of stones and a result might not fit.
    void forget_where_full() const {
        const i64 kept = marks[KEPT];
        const i64 free = keys.size() - spans(kept, BEGIN), spare = places.size() - spans(kept, ENTRIES);
        const bool full =
            free < (ROOM - 1) * rows(0) || spare < (ROOM - 1) * spans(1, ENTRIES);
        if (full || kept + ROOM > MOST_SETS) {
            marks[KEPT] = 1;
            stones.fill(0);
        }
    }

    // Rolls up the classes of a node from a set, behind those that are kept.
    void roll_up(const Nodes& nodes, i64 source, i64 place) const {
        mask.fill(0);
        for (i64 axis = 0; axis < nodes.attributes(); axis++) {
            const u64* own = nodes.masks(axis)(nodes.level(place, axis)).data;
            for (i64 word = 0; word < mask.size(); word++) mask[word] |= own[word];
        }
        const i64 number = rows(source), target = marks[KEPT], words = keys.shape[1];
        const i64 first = spans(source, BEGIN), into = spans(target, BEGIN);
        const auto at = [&](i64 row) {
            Array<u64, 2> own = keys;
            own.data += row * words;
            return own;
        };
        Array<T, 2> sums = counts;
        sums.data += into * counts.shape[1];
        const i64 groups = group_rows<T>(
            {number, at(first), counts_of(source), members.data + first}, mask.data,
            table_bits(number),
            {table.data, slots.data, at(into), sums, members.data + into,
             LISTED ? room(0).data : nullptr});
        if (LISTED)
            merge_entries<T>(entries_of(source), number, groups, room, {scratch, marked},
                             entries_of(target));
        spans(target, ROWS) = groups;
        marks[LAST] = target;
        marks[ROLLED] += number;
    }

    // Rolls up the classes of a node, the stepping stones on the way to it first; keeps a few.
    void fetch(const Nodes& nodes, i64 place) const {
        forget_where_full();
        while (true) {
            const auto [source, stone] = source_of(nodes, place);
            const i64 made = stone < 0 ? place : stone;
            roll_up(nodes, source, made);
            const double before = double(rows(source));
            const i64 number = rows(marks[KEPT]);
            bool worth;
            if (stone < 0) {
                worth = marks[FEW_ROWS] < number && double(number) <= WORTH_KEEPING * before;
            } else {
                worth = double(number) <= WORTH_A_STONE * before;
                stones[stone] = i32(1 + (worth ? marks[KEPT] : source));
            }
            if (worth) keep(nodes, made);
            if (stone < 0) return;
        }
    }
};

// What is known of a node; out: it is undecided, but can neither win nor tie, or not allowed.
enum Known : i8 { UNDECIDED, INFEASIBLE, FEASIBLE, OUT };

// The entries of `Board::state`, of `Board::best`, and the columns of `Board::log`: see `driver`.
enum State { FIRST, LOW, HIGH, LENGTH, COUNTED, ASKED, PHASE, BATCH, AT };
enum Best { BEST, KNOWN_BOUNDS };
enum Logged { LOGGED_PLACE, LOGGED_FITS, LOGGED_SCORE, LOGGED_CLASSES };

// Knowledge about every node: see `driver.NodeBoard`.
struct Board {
    Array<i8> status;
    Array<double> ceilings;
    Array<i64> lost;
    Array<double> tolls;
    Array<bool> done;
    Array<i64> chain;
    Array<double, 2> log;
    Array<i64> state;
    Array<double> best;

    static Board of(Given& given) {
        Board board;
        given.read(board.status, board.ceilings, board.lost, board.tolls, board.done,
                   board.chain, board.log, board.state, board.best);
        return board;
    }

    double least() const { return best[BEST] - TOLERANCE; }

    // The bound of a node's score.
    double bound(i64 place) const {
        return ceilings.size() ? ceilings[place] - tolls[place] * double(lost[place]) : INF;
    }

    bool may_win(i64 place) const { return status[place] == UNDECIDED && bound(place) >= least(); }

    // Climbs from the first node that may win, by attributes that are relatively least general;
    // whether there is one.
    bool next_chain(const Nodes& nodes) const {
        i64 place = state[FIRST];
        while (place < status.size() && !may_win(place)) place++;
        state[FIRST] = place;
        if (place == status.size()) return false;
        i64 length = 0;
        while (place >= 0) {
            chain[length++] = place;
            i64 raised = -1;
            double lowest = 1.0;
            for (i64 axis = 0; axis < nodes.attributes(); axis++) {
                const double share = nodes.shares(axis, nodes.level(place, axis));
                if (share < lowest && may_win(place + nodes.stride(axis))) {
                    raised = place + nodes.stride(axis);
                    lowest = share;
                }
            }
            place = raised;
        }
        state[LENGTH] = length;
        state[LOW] = 0;
        state[HIGH] = length - 1;
        return true;
    }

    // The node in the middle of what is left of the open chain, where it may still win; or -1.
    i64 bisected() const {
        const i64 middle = (state[LOW] + state[HIGH]) / 2, place = chain[middle];
        if (status[place] == INFEASIBLE)
            state[LOW] = middle + 1;
        else if (may_win(place))
            return place;
        else
            state[HIGH] = middle - 1;
        return -1;
    }

    // Enters something at all nodes above or below one: run by run of places that are neighbours.
    //
    // A status unless `mark` is negative, a bound unless it is infinite, and what is lost.
    void spread(const Nodes& nodes, i64 place, bool above, i64 mark, double bound, i64 least) const {
        // The levels beyond the lowest of each attribute, and which of them the run is at.
        i64 *beyond = nodes.box(0).data, *at = nodes.box(1).data;
        i64 begin = 0, length = 1, last = nodes.attributes() - 1;
        for (i64 axis = 0; axis < nodes.attributes(); axis++) {
            const i64 level = nodes.level(place, axis);
            const i64 lowest = above ? level : nodes.axes(axis, FLOOR);
            beyond[axis] = (above ? nodes.height(axis) : level) - lowest;
            at[axis] = 0;
            begin += lowest * nodes.stride(axis);
        }
        while (last >= 0) {
            const i64 axis = last--;
            length = nodes.stride(axis) * (beyond[axis] + 1);
            if (beyond[axis] < nodes.height(axis)) break;
        }
        while (true) {
            const i64 end = begin + length;
            if (mark >= 0) std::fill(status.data + begin, status.data + end, i8(mark));
            if (bound < INF)
                for (i64 each = begin; each < end; each++)
                    ceilings[each] = std::min(ceilings[each], bound);
            if (least > 0)
                for (i64 each = begin; each < end; each++) lost[each] = std::max(lost[each], least);
            // The next run, as an odometer counts.
            i64 axis = last;
            for (; axis >= 0; axis--) {
                if (at[axis] < beyond[axis]) {
                    at[axis]++;
                    begin += nodes.stride(axis);
                    break;
                }
                begin -= at[axis] * nodes.stride(axis);
                at[axis] = 0;
            }
            if (axis < 0) return;
        }
    }

    // Puts the nodes of the highest bounds first that can still win or tie; how many these are. Of
    // equal bounds the lexicographically first.
    i64 most_promising(i64 most) const {
        i64 found = 0;
        for (i64 place = 0; place < status.size(); place++) {
            if (status[place] != UNDECIDED && (status[place] != FEASIBLE || done[place])) continue;
            const double own = bound(place);
            const bool full = found == most;
            if (own < least() || (full && own <= bound(chain[most - 1]))) continue;
            i64 at = found - full;
            while (at > 0 && bound(chain[at - 1]) < own) {
                chain[at] = chain[at - 1];
                at--;
            }
            chain[at] = place;
            found = std::min(found + 1, most);
        }
        return found;
    }

    // Adds the direct specializations of a node to a descent whose generalizations all fit.
    void append_below(const Nodes& nodes, i64 place) const {
        for (i64 axis = 0; axis < nodes.attributes(); axis++) {
            if (nodes.level(place, axis) == nodes.axes(axis, FLOOR)) continue;
            const i64 below = place - nodes.stride(axis);
            bool fits = status[below] == UNDECIDED;
            for (i64 other = 0; other < nodes.attributes(); other++)
                if (nodes.level(below, other) < nodes.height(other))
                    fits = fits && status[below + nodes.stride(other)] == FEASIBLE;
            if (fits) chain[state[LENGTH]++] = below;
        }
    }
};

}  // namespace anonymizer
