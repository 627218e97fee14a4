// Cutting a box of cells in two, and again, always where most is gained.
//
// A box is a slice of an order of all cells; cutting it sorts the slice into two. What the greedy tree
// of a box is worth depends on its cells alone, and boxes come up again and again: what two cuts in
// either order leave is the same. So worths are remembered by the sum of the marks of the cells.
#pragma once

#include <numeric>
#include <vector>

#include "single.hpp"

namespace anonymizer {

// Blocks in a box of which every set is tried; of more, the ends of orders by share.
constexpr i64 FEW = 5;

// Cells of a table to cut, and the axes they lie on: see `boxes.BoxCells`.
struct BoxCells {
    Array<i32, 2> blocks;
    Array<i64> starts;
    Array<i32> columns;
    Array<i64> amounts;
    Array<u64> marks;
    bool sparse;
    Array<i64> numbers;
    Array<bool, 3> wide;
    Array<i64> levels;
    Array<i64, 3> tree;

    static BoxCells of(Given& given) {
        BoxCells cells;
        given.read(cells.blocks, cells.starts, cells.columns, cells.amounts, cells.marks);
        cells.sparse = given.whole() != 0;
        given.read(cells.numbers, cells.wide, cells.levels, cells.tree);
        return cells;
    }

    bool confined() const { return wide.size() > 0; }

    // The sum of the marks of a slice's cells.
    u64 marked(const i64* order, i64 low, i64 high) const {
        u64 total = 0;
        for (i64 place = low; place < high; place++) total += marks[order[place]];
        return total;
    }

    // The coarsest level of a hierarchy that tells two blocks apart, 0 where none does.
    i64 dividing(i64 axis, i64 first, i64 last) const {
        for (i64 level = levels[axis] - 1; level > 0; level--)
            if (tree(axis, level, first) != tree(axis, level, last)) return level;
        return 0;
    }

    // Whether both parts of a range are wide enough when it is cut before a block.
    bool may_cut(i64 axis, i64 block, Array<i64, 2> bounds) const {
        if (!confined() || levels[axis] > 0) return true;
        const i64 low = bounds(axis, 0), high = std::min(bounds(axis, 1), numbers[axis]);
        return wide(axis, low, block) && (block == numbers[axis] || wide(axis, block, high));
    }
};

// The best cuts of a box along every axis, and what they are worked out in: see `boxes.BoxCuts`.
struct BoxCuts {
    Array<double, 2> scores;
    Array<i64, 2> tries;
    Array<bool, 3> left;
    Array<i64, 2> at;
    Array<i64, 3> sums;
    Array<i64, 2> touched;
    Array<bool, 2> seen;
    Array<i64> occurring, extents;
    Array<i64> whole, part;
    Array<i64, 2> sets;
    Array<i64> until;
    Array<bool> ends;
    i64 orders;

    static BoxCuts of(Given& given) {
        BoxCuts cuts;
        given.read(cuts.scores, cuts.tries, cuts.left, cuts.at, cuts.sums, cuts.touched,
                   cuts.seen, cuts.occurring, cuts.extents, cuts.whole, cuts.part,
                   cuts.sets, cuts.until, cuts.ends);
        cuts.orders = given.whole();
        return cuts;
    }

    i64 axes() const { return occurring.size(); }
    i64 columns() const { return whole.size(); }
};

// Columns beyond which those that do not occur in a box are left out of what is judged: of 50 values boxes
// take two thirds of the time.
constexpr i64 MANY = 24;

// Whether classes break a bound alike without the columns of values that they have no record of.
inline bool may_narrow(const Laid& laid) {
    for (i64 bound = 0; bound < laid.size(); bound++) {
        const i64 kind = laid.facts(bound, KIND);
        const bool absent = kind == SHARES && laid.facts(bound, RANK) > 0;
        if (absent || kind == TRANSPORT || kind == POPULATION || kind == PRESENCE) return false;
    }
    return true;
}

// The columns that occur in a box, the last one being all records, and what is required in these.
struct Narrowed {
    std::vector<i64> columns, facts, spans;
    std::vector<double> rows;
    Criteria required;
    Room room;

    i64 last() const { return i64(columns.size()) - 1; }

    i64 place(i64 column) const {
        return std::lower_bound(columns.begin(), columns.end(), column) - columns.begin();
    }

    void all(i64 number, const Criteria& whole, const Room& large) {
        columns.resize(number);
        std::iota(columns.begin(), columns.end(), 0);
        required = whole;
        room = large;
    }

    void some(const Array<i64>& counts, const Criteria& whole, const Room& large) {
        columns.clear();
        for (i64 column = 0; column < counts.size(); column++)
            if (counts[column] > 0 || column + 1 == counts.size()) columns.push_back(column);
        const i64 width = i64(columns.size());
        required = whole;
        Laid& laid = required.policy.laid;
        const Laid& wide = whole.policy.laid;
        facts.assign(wide.facts.data, wide.facts.data + wide.facts.shape[0] * wide.facts.shape[1]);
        laid.facts.data = facts.data();
        laid.rows.shape[2] = width;
        rows.resize(laid.rows.shape[0] * laid.rows.shape[1] * width);
        laid.rows.data = rows.data();
        for (i64 bound = 0; bound < laid.size(); bound++) {
            laid.facts(bound, START) = place(wide.facts(bound, START));
            laid.facts(bound, STOP) = place(wide.facts(bound, STOP));
            for (i64 layer : {LOWER, UPPER})
                for (i64 at = 0; at < width; at++)
                    laid.rows(layer, bound, at) = wide.rows(layer, bound, columns[at]);
        }
        spans.clear();
        for (i64 end = 0; end < 2 * whole.worth.spans.size(); end++)
            spans.push_back(place(whole.worth.spans.data[end]));
        required.worth.spans.data = spans.data();
        room = large;
        room.counts.shape[1] = room.terms.shape[0] = width;
    }
};

// The blocks of an axis in the order of the share of a value in them.
struct Shares {
    std::vector<i64> order;
    std::vector<double> shares;

    // Sorts the blocks that occur, which stand in order; ties by block.
    void sort(i64 axis, i64 column, const BoxCuts& cuts) {
        const i64 number = cuts.occurring[axis], last = cuts.columns() - 1;
        order.resize(number);
        shares.resize(number);
        for (i64 place = 0; place < number; place++) {
            const i64 block = cuts.touched(axis, place);
            const i64* sums = cuts.sums(axis)(block).data;
            const double share = double(sums[column]) / double(std::max<i64>(sums[last], 1));
            i64 hole = place;
            for (; hole > 0 && shares[hole - 1] > share; hole--) {
                order[hole] = order[hole - 1];
                shares[hole] = shares[hole - 1];
            }
            order[hole] = block;
            shares[hole] = share;
        }
    }
};

// The sets of blocks that were met along an axis of a box. One may be forgotten for another, and is then
// met anew.
class Met {
    static constexpr int BITS = 12;
    std::vector<u64> sets = std::vector<u64>(1 << BITS);
    i64 axes = 0;  // so far, of all boxes
    u64 axis = 0;  // what stands for the present one

  public:
    // As good as random.
    static u64 mark(i64 number) {
        const u64 mixed = u64(number) * MIX;
        return (mixed ^ mixed >> 32) * MIX;
    }

    // Begins with another axis, and no sets. Marks of axes are those of no block.
    void begin() { axis = mark(--axes); }

    // Whether a set was met, by the sum of the marks of its blocks.
    bool again(u64 set) {
        const u64 own = axis ^ set;
        u64& known = sets[own * MIX >> (64 - BITS)];
        const bool same = known == own;
        known = own;
        return same;
    }
};

// The counts of the blocks of an axis that are not 0.
struct BlockCounts {
    std::vector<i64> begin, end, columns, amounts;
    std::vector<u64> marks;  // of each block
    u64 all;                 // their sum

    void list(i64 axis, const BoxCuts& cuts, const std::vector<i64>& occurring) {
        begin.resize(cuts.extents[axis]);
        end.resize(cuts.extents[axis]);
        marks.resize(cuts.extents[axis]);
        all = 0;
        columns.clear();
        amounts.clear();
        for (i64 place = 0; place < cuts.occurring[axis]; place++) {
            const i64 block = cuts.touched(axis, place);
            const i64* sums = cuts.sums(axis)(block).data;
            begin[block] = i64(columns.size());
            for (i64 column : occurring) {
                if (sums[column] == 0) continue;
                columns.push_back(column);
                amounts.push_back(sums[column]);
            }
            end[block] = i64(columns.size());
            all += marks[block] = Met::mark(block + 1);
        }
    }
};

// The cells in an order in which boxes are slices, what is required of boxes, and room for cuts.
struct Ground {
    BoxCells cells;
    Criteria required;
    BoxCuts cuts;
    Room room;
    Array<i64> order;
    bool narrows;
    // Of the box, and the axis, that is looked at.
    mutable Narrowed now;
    mutable Shares shares;
    mutable BlockCounts counts;
    mutable Met met;

    static Ground of(Given& given) {
        Ground ground;
        ground.cells = BoxCells::of(given);
        ground.required = Criteria::of(given);
        ground.cuts = BoxCuts::of(given);
        ground.room = Room::of(given);
        ground.required.policy.sums = ground.room.sums;
        ground.order = given.array<i64>();
        ground.narrows = ground.cuts.columns() > MANY && may_narrow(ground.required.policy.laid);
        ground.now.all(ground.cuts.columns(), ground.required, ground.room);
        return ground;
    }

    // Leaves out what does not occur in the box that was added up.
    void narrow() const {
        if (narrows) now.some(cuts.whole, required, room);
    }

    void judge_cuts(i64 number) const { judge(now.room, 2 * number, now.required); }
};

// Sorts a slice of the order into the cells of some blocks and the others; where these begin.
inline i64 sort_into(i64* order, i64 low, i64 high, Array<i32, 2> blocks, i64 axis, const bool* left) {
    i64 begin = low, end = high - 1;
    while (begin <= end) {
        if (left[blocks(order[begin], axis)])
            begin++;
        else
            std::swap(order[begin], order[end--]);
    }
    return begin;
}

// Puts the blocks that occur along an axis in order.
inline void in_order(i64 axis, const BoxCuts& cuts) {
    i64* touched = cuts.touched(axis).data;
    const i64 number = cuts.occurring[axis];
    if (number * number < cuts.extents[axis]) {
        for (i64 place = 1; place < number; place++) {
            const i64 block = touched[place];
            i64 hole = place;
            for (; hole > 0 && touched[hole - 1] > block; hole--) touched[hole] = touched[hole - 1];
            touched[hole] = block;
        }
    } else {
        i64 place = 0;
        for (i64 block = 0; block < cuts.extents[axis]; block++)
            if (cuts.seen(axis, block)) touched[place++] = block;
    }
}

// The records of a box by axis and block, the blocks that occur, and all records together.
inline void add_up(const Ground& ground, i64 low, i64 high) {
    const BoxCells& cells = ground.cells;
    const BoxCuts& cuts = ground.cuts;
    const i64 axes = cells.blocks.shape[1];
    cuts.whole.fill(0);
    cuts.occurring.fill(0);
    for (i64 place = low; place < high; place++) {
        const i64 cell = ground.order[place];
        const i32* blocks = cells.blocks.data + cell * axes;
        for (i64 axis = 0; axis < axes; axis++) {
            bool& seen = cuts.seen(axis, blocks[axis]);
            if (seen) continue;
            seen = true;
            cuts.touched(axis, cuts.occurring[axis]++) = blocks[axis];
        }
        for (i64 entry = cells.starts[cell]; entry < cells.starts[cell + 1]; entry++) {
            const i64 column = cells.columns[entry], amount = cells.amounts[entry];
            cuts.whole[column] += amount;
            for (i64 axis = 0; axis < axes; axis++) cuts.sums(axis, blocks[axis], column) += amount;
        }
    }
    for (i64 axis = 0; axis < axes; axis++) in_order(axis, cuts);
    ground.narrow();
}

// Forgets the records of a box, for the next one to be added up.
inline void clear(const Ground& ground) {
    const BoxCuts& cuts = ground.cuts;
    for (i64 axis = 0; axis < cuts.axes(); axis++)
        for (i64 place = 0; place < cuts.occurring[axis]; place++) {
            const i64 block = cuts.touched(axis, place);
            cuts.seen(axis, block) = false;
            for (i64 column : ground.now.columns) cuts.sums(axis, block, column) = 0;
        }
}

// Whether a part, or what it leaves, has records, but fewer than it must.
inline bool too_small(i64 records, i64 whole, double least) {
    return (0 < records && double(records) < least) ||
           (0 < whole - records && double(whole - records) < least);
}

// Lays the cuts of a box out, along all its axes: both parts of each in the rows of `room.counts`.
class Laying {
    const Ground& ground;
    const BoxCuts& cuts;
    const i64 last;
    const bool once;
    i64 cut = 0;

    // Lays out a part and what it leaves, where neither is too small.
    void lay(i64 first, i64 second) {
        cuts.sets(cut, 0) = first;
        cuts.sets(cut, 1) = second;
        if (too_small(cuts.part[last], cuts.whole[last], ground.required.least)) return;
        const Array<i64, 2>& counts = ground.now.room.counts;
        i64 at = 0;
        for (i64 column : ground.now.columns) {
            counts(2 * cut, at) = cuts.part[column];
            counts(2 * cut + 1, at++) = cuts.whole[column] - cuts.part[column];
        }
        cut++;
    }

    // The beginnings of the blocks that may end where they do as first parts.
    void lay_prefixes(i64 axis) {
        const i64 number = cuts.occurring[axis];
        cuts.part.fill(0);
        for (i64 place = 0; place < number - 1; place++) {
            const i64* sums = cuts.sums(axis)(cuts.touched(axis, place)).data;
            for (i64 column : ground.now.columns) cuts.part[column] += sums[column];
            if (cuts.ends[place]) lay(place, -2);
        }
    }

    // All sets of few blocks that hold the first of them, but not all, as first parts.
    void lay_sets(i64 axis) {
        const i64 number = cuts.occurring[axis];
        const i64* touched = cuts.touched(axis).data;
        const Array<i64, 2> sums = cuts.sums(axis);
        for (i64 some = 1; some < (i64(1) << number) - 1; some += 2) {
            i64 records = 0;
            for (i64 place = 0; place < number; place++)
                records += (some >> place & 1) * sums(touched[place], last);
            // Most sets of a small box are too small: nothing else of these is added up.
            if (too_small(records, cuts.whole[last], ground.required.least)) continue;
            for (i64 column : ground.now.columns) {
                cuts.part[column] = 0;
                for (i64 place = 0; place < number; place++)
                    cuts.part[column] += (some >> place & 1) * sums(touched[place], column);
            }
            lay(some, -1);
        }
    }

    // The beginnings of the blocks in the order of the share of a value, as first parts.
    void lay_share(i64 axis, i64 column) {
        Shares& shares = ground.shares;
        const BlockCounts& counts = ground.counts;
        shares.sort(axis, column, cuts);
        cuts.part.fill(0);
        u64 mark = 0;
        for (i64 place = 0; place < cuts.occurring[axis] - 1; place++) {
            const i64 block = shares.order[place];
            mark += counts.marks[block];
            for (i64 entry = counts.begin[block]; entry < counts.end[block]; entry++)
                cuts.part[counts.columns[entry]] += counts.amounts[entry];
            // A part and what it leaves are the same cut.
            if (once && ground.met.again(std::min(mark, counts.all - mark))) continue;
            lay(place, column);
        }
    }

    // The same of each value. Of values that nobody in the box has the first stands for all: it leaves
    // blocks as numbered.
    void lay_shares(i64 axis);

    // Marks the blocks after which the axis may be cut: between groups of a hierarchy, or where both
    // parts are wide enough. Missing values stand in no range: they are cut off before any other cut.
    void mark_ends(i64 axis, Array<i64, 2> bounds) {
        const BoxCells& cells = ground.cells;
        const i64* touched = cuts.touched(axis).data;
        const i64 number = cuts.occurring[axis], numbers = cells.numbers[axis];
        if (cells.levels[axis] > 0) {
            const i64 level = cells.dividing(axis, touched[0], touched[number - 1]);
            for (i64 place = 0; place < number - 1; place++)
                cuts.ends[place] = cells.tree(axis, level, touched[place]) !=
                                   cells.tree(axis, level, touched[place + 1]);
            return;
        }
        const bool missing = numbers > 0 && touched[number - 1] == numbers;
        for (i64 place = 0; place < number - 1; place++)
            cuts.ends[place] = (!missing || place == number - 2) &&
                               (numbers == 0 || cells.may_cut(axis, touched[place + 1], bounds));
    }

  public:
    // With `once`, the cuts by shares that come up again are most often left out.
    Laying(const Ground& ground, bool once)
        : ground(ground), cuts(ground.cuts), last(ground.cuts.columns() - 1), once(once) {}

    // How many cuts there are; those along an axis end at its place of `cuts.until`.
    i64 all(Array<i64, 2> bounds) {
        for (i64 axis = 0; axis < cuts.axes(); axis++) {
            const bool free = ground.cells.numbers[axis] == 0;
            if (cuts.occurring[axis] > 1) {
                if (free && cuts.occurring[axis] <= FEW) {
                    lay_sets(axis);
                } else {
                    mark_ends(axis, bounds);
                    // Where nothing is known but how many records there are, blocks stand as they are
                    // numbered.
                    if (free && last > 0)
                        lay_shares(axis);
                    else
                        lay_prefixes(axis);
                }
            }
            cuts.until[axis] = cut;
        }
        return cut;
    }
};

inline void Laying::lay_shares(i64 axis) {
    std::vector<i64> values;
    i64 absent = last;
    for (i64 column = last - 1; column >= 0; column--) {
        if (cuts.whole[column] > 0)
            values.push_back(column);
        else
            absent = column;
    }
    // Of very many values the most frequent ones.
    if (i64(values.size()) > cuts.orders) {
        std::sort(values.begin(), values.end(), [&](i64 one, i64 other) {
            const i64 first = cuts.whole[one], second = cuts.whole[other];
            return first > second || (first == second && one < other);
        });
        values.resize(cuts.orders);
    }
    if (absent < last) values.push_back(absent);
    std::sort(values.begin(), values.end());
    ground.counts.list(axis, cuts, ground.now.columns);
    ground.met.begin();
    for (i64 column : values) lay_share(axis, column);
}

// Remembers which blocks the first part of a cut has, and where the second begins.
inline void mark_cut(i64 axis, i64 kept, const Ground& ground) {
    const BoxCells& cells = ground.cells;
    const BoxCuts& cuts = ground.cuts;
    const i64 cut = cuts.tries(axis, kept), number = cuts.occurring[axis];
    const i64 last = cuts.sets(cut, 0), order = cuts.sets(cut, 1);
    const i64* touched = cuts.touched(axis).data;
    if (order >= 0) {
        ground.shares.sort(axis, order, cuts);
        touched = ground.shares.order.data();
    }
    for (i64 place = 0; place < number; place++)
        cuts.left(axis, kept, touched[place]) =
            order == -1 ? (last >> place & 1) == 1 : place <= last;
    if (cells.levels[axis] > 0) {
        const i64 level = cells.dividing(axis, touched[0], touched[number - 1]);
        cuts.at(axis, kept) = cells.tree(axis, level, touched[last + 1]);
    } else if (cells.numbers[axis] > 0) {
        cuts.at(axis, kept) = touched[last + 1];
    }
}

// The first of the best cuts from `begin` to `end`; -1 where there is none.
inline i64 best_of(i64 begin, i64 end, const double* worths) {
    i64 best = -1;
    double score = -INF;
    for (i64 cut = begin; cut < end; cut++) {
        const double both = worths[2 * cut] + worths[2 * cut + 1];
        if (both > score + TIE) {
            best = cut;
            score = both;
        }
    }
    return best;
}

// Puts the best cuts along an axis into `cuts`; how many are kept.
inline i64 keep_best(i64 axis, const BoxCuts& cuts, const double* worths) {
    double* scores = cuts.scores(axis).data;
    i64* tries = cuts.tries(axis).data;
    const i64 most = cuts.scores.shape[1];
    i64 found = 0;
    cuts.scores(axis).fill(-INF);
    for (i64 cut = axis ? cuts.until[axis - 1] : 0; cut < cuts.until[axis]; cut++) {
        const double both = worths[2 * cut] + worths[2 * cut + 1];
        if (!(both > scores[most - 1] + TIE)) continue;
        i64 place = found < most ? found : most - 1;
        while (place > 0 && scores[place - 1] + TIE < both) {
            scores[place] = scores[place - 1];
            tries[place] = tries[place - 1];
            place--;
        }
        scores[place] = both;
        tries[place] = cut;
        found = std::min(found + 1, most);
    }
    return found;
}

// What the records in `cuts.whole` are worth as one class.
inline double own_worth(const Ground& ground) {
    std::copy(ground.cuts.whole.data, ground.cuts.whole.data + ground.cuts.columns(),
              ground.room.counts.data);
    judge(ground.room, 1, ground.required);
    return ground.room.worths[0];
}

// Finds the best cuts along every axis; what the box is worth uncut.
inline double best_cuts(const Ground& ground, i64 low, i64 high, Array<i64, 2> bounds) {
    const BoxCuts& cuts = ground.cuts;
    cuts.left.fill(false);
    add_up(ground, low, high);
    ground.judge_cuts(Laying(ground, false).all(bounds));
    for (i64 axis = 0; axis < cuts.axes(); axis++) {
        const i64 number = keep_best(axis, cuts, ground.room.worths);
        for (i64 kept = 0; kept < number; kept++) mark_cut(axis, kept, ground);
    }
    const double own = own_worth(ground);
    clear(ground);
    return own;
}

// Worths of boxes that were worked out before, in a table that jobs share: see `boxes.Memory`.
//
// A lock is the bits that stand for a box, exclusive or with those of its worth: of two jobs that write
// a slot at once no half-written worth is taken (Hyatt and Mann 2002).
struct Memory {
    Array<u64> locks, worths;

    i64 slot(u64 key) const { return i64((key * MIX) >> 32) & (locks.size() - 1); }

    // The worth of a box; NaN where that is not remembered.
    double recall(u64 key) const {
        const i64 own = slot(key);
        const u64 bits = __atomic_load_n(&worths[own], __ATOMIC_RELAXED);
        if ((__atomic_load_n(&locks[own], __ATOMIC_RELAXED) ^ bits) != key) return std::nan("");
        double worth;
        std::memcpy(&worth, &bits, sizeof worth);
        return worth;
    }

    void remember(u64 key, double worth) const {
        u64 bits;
        std::memcpy(&bits, &worth, sizeof bits);
        const i64 own = slot(key);
        __atomic_store_n(&locks[own], key ^ bits, __ATOMIC_RELAXED);
        __atomic_store_n(&worths[own], bits, __ATOMIC_RELAXED);
    }
};

// Boxes that are being cut, from the first down, and boxes that wait: see `boxes.Path`.
struct Path {
    Array<i64, 2> slices;
    Array<i64, 3> bounds;
    Array<double> owns;
    Array<i64> records;
    Array<u64> marks, cut;
    Array<double> sums;
    Array<i64> left;

    static Path of(Given& given) {
        Path path;
        given.read(path.slices, path.bounds, path.owns, path.records, path.marks, path.cut,
                   path.sums, path.left);
        return path;
    }
};

// Cuts boxes greedily.
class Greedy {
    const Ground& ground;
    const Path path;
    const Memory memory;

    // Lets a box wait, alone.
    void begin(i64 low, i64 high, Array<i64, 2> bounds) const {
        const BoxCells& cells = ground.cells;
        const Array<i64>& whole = ground.cuts.whole;
        whole.fill(0);
        for (i64 place = low; place < high; place++) {
            const i64 cell = ground.order[place];
            for (i64 entry = cells.starts[cell]; entry < cells.starts[cell + 1]; entry++)
                whole[cells.columns[entry]] += cells.amounts[entry];
        }
        path.slices(0, 0) = low;
        path.slices(0, 1) = high;
        std::copy(bounds.data, bounds.data + 2 * bounds.size(), path.bounds.data);
        path.owns[0] = own_worth(ground);
        path.records[0] = whole[whole.size() - 1];
        path.marks[0] = cells.marked(ground.order.data, low, high);
    }

    // The axis of the best cut of a box that waits, the cut in `cuts`; -1 if none gains.
    i64 best(i64 box) const {
        const BoxCuts& cuts = ground.cuts;
        const double* worths = ground.room.worths;
        add_up(ground, path.slices(box, 0), path.slices(box, 1));
        ground.judge_cuts(Laying(ground, true).all(path.bounds(box)));
        i64 best = -1, chosen = -1, first = 0;
        double score = path.owns[box] + TIE;
        for (i64 axis = 0; axis < cuts.axes(); axis++) {
            const i64 cut = best_of(first, cuts.until[axis], worths);
            first = cuts.until[axis];
            if (cut >= 0 && worths[2 * cut] + worths[2 * cut + 1] > score) {
                best = axis;
                chosen = cut;
                score = worths[2 * cut] + worths[2 * cut + 1];
            }
        }
        if (best >= 0) {
            cuts.tries(best, 0) = chosen;
            mark_cut(best, 0, ground);
        }
        clear(ground);
        return best;
    }

    // Lets both parts of a box wait in its place. The larger one waits below: few ever wait.
    void divide(i64 box, i64 axis) const {
        const BoxCells& cells = ground.cells;
        const BoxCuts& cuts = ground.cuts;
        i64* order = ground.order.data;
        const i64 low = path.slices(box, 0), high = path.slices(box, 1);
        const i64 cut = cuts.tries(axis, 0);
        const i64 middle = sort_into(order, low, high, cells.blocks, axis, cuts.left(axis)(0).data);
        // The marks of the smaller part are added up, those of the larger one are what is left.
        const bool first_larger = middle - low > high - middle;
        const u64 smaller = first_larger ? cells.marked(order, middle, high)
                                         : cells.marked(order, low, middle);
        const u64 whole = path.marks[box];
        if (cells.confined()) {
            const i64* bounds = path.bounds(box).data;
            std::copy(bounds, bounds + 2 * cells.numbers.size(), path.bounds(box + 1).data);
        }
        for (int part = 0; part < 2; part++) {
            const i64 place = (part == 0) == first_larger ? box : box + 1;
            path.slices(place, 0) = part ? middle : low;
            path.slices(place, 1) = part ? high : middle;
            path.owns[place] = ground.room.worths[2 * cut + part];
            path.records[place] = ground.now.room.counts(2 * cut + part, ground.now.last());
            path.marks[place] = place > box ? smaller : whole - smaller;
            if (cells.confined() && cells.numbers[axis] > 0)
                path.bounds(place, axis, 1 - part) = cuts.at(axis, 0);
        }
    }

    // What stands for a box that waits: with its ends on every axis where these confine its cuts.
    u64 key_of(i64 box) const {
        u64 key = path.marks[box];
        if (!ground.cells.confined()) return key;
        const Array<i64, 2> bounds = path.bounds(box);
        for (i64 end = 0; end < 2 * bounds.size(); end++) {
            key = (key ^ u64(bounds.data[end])) * 0xBF58476D1CE4E5B9;
            key ^= key >> 29;
        }
        return key;
    }

    // The worth of the greedy tree of the waiting box: cut where most is gained, and again.
    //
    // The worths of a cut's parts are added, and nothing else, so that what is remembered is what
    // would be worked out.
    double tree() const {
        i64 waiting = 1, depth = 0;
        // Where every cell has records, fewer than twice the least cannot be cut.
        const double divisible = ground.cells.sparse ? 0.0 : 2 * ground.required.least;
        while (true) {
            const i64 box = waiting - 1;
            double worth = path.owns[box];
            if (double(path.records[box]) >= divisible &&
                path.slices(box, 1) - path.slices(box, 0) > 1) {
                const u64 key = key_of(box);
                const double known = memory.recall(key);
                if (!std::isnan(known)) {
                    worth = known;
                } else {
                    const i64 axis = best(box);
                    if (axis >= 0) {
                        path.cut[depth] = key;
                        path.sums[depth] = 0.0;
                        path.left[depth] = 2;
                        depth++;
                        divide(box, axis);
                        waiting++;
                        continue;
                    }
                    memory.remember(key, worth);
                }
            }
            waiting--;
            while (depth > 0) {
                path.sums[depth - 1] += worth;
                if (--path.left[depth - 1] > 0) break;
                depth--;
                worth = path.sums[depth];
                memory.remember(path.cut[depth], worth);
            }
            if (depth == 0) return worth;
        }
    }

  public:
    Greedy(const Ground& ground, Path path, Memory memory)
        : ground(ground), path(path), memory(memory) {}

    // The worth of a box that is cut in one way, then greedily. `half` is room for its bounds.
    double followed(i64 low, i64 high, Array<i64, 2> bounds, i64 axis, const bool* left, i64 at,
                    Array<i64, 2> half) const {
        const i64 middle =
            sort_into(ground.order.data, low, high, ground.cells.blocks, axis, left);
        double found = 0.0;
        for (int part = 0; part < 2; part++) {
            std::copy(bounds.data, bounds.data + 2 * bounds.size(), half.data);
            if (ground.cells.numbers[axis] > 0) half(axis, 1 - part) = at;
            begin(part ? middle : low, part ? high : middle, half);
            found += tree();
        }
        return found;
    }
};

}  // namespace anonymizer
