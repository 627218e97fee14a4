// Partitions of an order into intervals by dynamic programming, and the walk over those of two orders.
#pragma once

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "single.hpp"

namespace anonymizer {

// The intervals of an order, by their start: see `ranges.Steps`.
struct Steps {
    Array<i64> first, ends;
    i64 most;

    static Steps of(Given& given) {
        Steps steps;
        given.read(steps.first, steps.ends);
        steps.most = given.whole();
        return steps;
    }

    i64 size() const { return ends.size(); }
    i64 blocks() const { return first.size() - 1; }

    // The place among the best sums of those with the intervals that are left.
    i64 left(i64 used) const { return most < 0 ? 0 : most - used; }
};

// Puts the best interval before the rest, from the last block on, under `n` valuations at once: Bellman's
// recursion. `best` may be the rest, so that any number of intervals may follow.
inline void put_before(const Steps& steps, const double* values, const double* rest, double* best, i64 n) {
    std::fill(best + steps.blocks() * n, best + (steps.blocks() + 1) * n, 0.0);
    for (i64 block = steps.blocks() - 1; block >= 0; block--) {
        double* into = best + block * n;
        std::fill(into, into + n, -INF);
        for (i64 step = steps.first[block]; step < steps.first[block + 1]; step++) {
            const double* value = values + step * n;
            const double* after = rest + steps.ends[step] * n;
            for (i64 i = 0; i < n; i++) into[i] = std::max(into[i], value[i] + after[i]);
        }
    }
}

// The most of some sums, four at a time: the processor adds and compares several at once.
inline double most_of(const double* values, const double* after, i64 number) {
    double most[4] = {-INF, -INF, -INF, -INF};
    i64 i = 0;
    for (; i + 4 <= number; i += 4)
        for (i64 lane = 0; lane < 4; lane++)
            most[lane] = std::max(most[lane], values[i + lane] + after[i + lane]);
    for (; i < number; i++) most[0] = std::max(most[0], values[i] + after[i]);
    return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

// `put_before` under one valuation. Where no interval is left out the ends of those of a block are
// neighbours.
inline void put_before(const Steps& steps, const double* values, const double* rest, double* best) {
    best[steps.blocks()] = 0.0;
    for (i64 block = steps.blocks() - 1; block >= 0; block--) {
        const i64 first = steps.first[block], number = steps.first[block + 1] - first;
        const i64* ends = steps.ends.data + first;
        double most = -INF;
        if (number && ends[number - 1] - ends[0] == number - 1)
            most = most_of(values + first, rest + ends[0], number);
        else
            for (i64 i = 0; i < number; i++) most = std::max(most, values[first + i] + rest[ends[i]]);
        best[block] = most;
    }
}

// The best sums of at most 0, 1, ..., most intervals from each block on; of any number in one layer.
inline void sum_suffixes(const Steps& steps, const double* values, Array<double, 3> sums) {
    const i64 n = sums.shape[2];
    if (steps.most < 0) return put_before(steps, values, sums.data, sums.data, n);
    sums(0).fill(-INF);
    sums(0)(steps.blocks()).fill(0.0);
    for (i64 round = 1; round <= steps.most; round++)
        put_before(steps, values, sums(round - 1).data, sums(round).data, n);
}

using Prefix = std::vector<i32>;
using Bounded = std::pair<double, Prefix>;  // minus a bound, so that the least comes first

// Walks over the columns of two orders, the rows being the best for each: see `ranges.walked`.
struct Walk {
    Steps rows, columns;
    Array<double, 2> tiles;     // of each column, and of missing values in the last row
    Array<double, 3> suffixes;  // the best sums of the columns from each block on, for every row
    std::vector<double> worths, sums;

    Walk(Steps rows, Steps columns, Array<double, 2> tiles, Array<double, 3> suffixes)
        : rows(rows), columns(columns), tiles(tiles), suffixes(suffixes), worths(tiles.shape[1]),
          sums((rows.blocks() + 1) * 2) {}

    // The sum of each row's tiles in some columns and the missing ones.
    std::vector<double> worth(const Prefix& path) const {
        std::vector<double> found(tiles.shape[1], 0.0);
        const auto add = [&](i64 column) {
            const double* tile = tiles(column).data;
            for (std::size_t row = 0; row < found.size(); row++) found[row] += tile[row];
        };
        for (i32 column : path) add(column);
        add(tiles.size() - 1);
        return found;
    }

    // The bound of a prefix, whose rows have a sum, with a column more.
    double bound(const std::vector<double>& base, i64 column, i64 used) {
        const double* tile = tiles(column).data;
        const double* suffix = suffixes(columns.left(used))(columns.ends[column]).data;
        for (std::size_t row = 0; row < worths.size(); row++) worths[row] = base[row] + tile[row] + suffix[row];
        return reached() + worths.back();
    }

    // The sum of the best rows.
    double reached() {
        double *now = sums.data(), *next = now + rows.blocks() + 1;
        if (rows.most < 0) {
            put_before(rows, worths.data(), now, now);
            return now[0];
        }
        std::fill(now, next - 1, -INF);
        *(next - 1) = 0.0;
        for (i64 round = 0; round < rows.most; round++) {
            put_before(rows, worths.data(), now, next);
            std::swap(now, next);
        }
        return now[0];
    }

    // Adds the columns that follow, up to where several may.
    void follow(Prefix& path) const {
        for (;;) {
            const i64 block = columns.ends[path.back()];
            const i64 first = columns.first[block];
            if (block == columns.blocks() || columns.first[block + 1] - first != 1) return;
            path.push_back(i32(first));
        }
    }

    // Extends the prefixes of the highest bounds, some together, until none exceeds the limit; false
    // where these are more than `longest`. Columns that exceed it are `best`, and raise it.
    bool walk(double limit, double slack, i64 together, i64 longest, Prefix& best) {
        std::priority_queue<Bounded, std::vector<Bounded>, std::greater<Bounded>> left;
        left.push({-INF, {}});
        i64 seen = 0;
        while (seen < longest) {
            std::vector<Prefix> prefixes;
            for (i64 taken = 0; taken < together && !left.empty(); taken++) {
                if (-left.top().first > limit) prefixes.push_back(left.top().second);
                left.pop();
            }
            if (prefixes.empty()) return true;
            for (const Prefix& prefix : prefixes) {
                const i64 block = prefix.empty() ? 0 : columns.ends[prefix.back()];
                const auto base = worth(prefix);
                const i64 stop = block < columns.blocks() ? columns.first[block + 1] : 0;
                for (i64 column = columns.first[block]; column < stop; column++) {
                    const double most = bound(base, column, i64(prefix.size()) + 1);
                    seen++;
                    if (!(most > limit)) continue;
                    Prefix path = prefix;
                    path.push_back(i32(column));
                    follow(path);  // what alone can follow is in the bound already
                    if (columns.ends[path.back()] == columns.blocks()) {
                        best = path;
                        limit = most + slack;
                    } else {
                        left.push({-most, path});
                    }
                }
            }
        }
        return false;
    }
};

// Classes by combination of what the intervals are not of, then by row and column: see `ranges.Sorted`.
struct Sorted {
    Array<i64> first, rows, columns, sizes;
    Entries<i64> entries;

    static Sorted of(Given& given) {
        Sorted sorted;
        given.read(sorted.first, sorted.rows, sorted.columns, sorted.sizes);
        i64* starts = given.array<i64>().data;
        i32* places = given.array<i32>().data;
        sorted.entries = {starts, places, given.array<i64>().data};
        return sorted;
    }
};

// The values that occur in some records, ascending, and how often.
struct Tally {
    std::vector<i32> places;
    std::vector<i64> numbers;
    i64 records = 0;

    void clear() {
        places.clear();
        numbers.clear();
        records = 0;
    }

    // Adds entries that ascend, too; `spare` has room that is reused.
    void add(const i32* place, const i64* number, i64 entries, i64 more, Tally& spare) {
        records += more;
        spare.places.clear();
        spare.numbers.clear();
        i64 own = 0, other = 0;
        const i64 size = i64(places.size());
        while (own < size || other < entries) {
            const bool first = other == entries || (own < size && places[own] <= place[other]);
            const bool second = own == size || (other < entries && place[other] <= places[own]);
            spare.places.push_back(first ? places[own] : place[other]);
            spare.numbers.push_back((first ? numbers[own] : 0) + (second ? number[other] : 0));
            own += first;
            other += second;
        }
        places.swap(spare.places);
        numbers.swap(spare.numbers);
    }
};

// Intervals [start, end) over some blocks.
struct Intervals {
    Array<i64> starts, ends;

    static Intervals of(Given& given) {
        Intervals intervals;
        given.read(intervals.starts, intervals.ends);
        return intervals;
    }

    i64 size() const { return starts.size(); }
};

// The first and the last block of each interval among those that occur, as one number; -1 for none.
// `blocks` ascend.
inline void number_intervals(const Intervals& of, const std::vector<i64>& blocks, std::vector<i64>& numbers) {
    const i64 many = i64(blocks.size());
    for (i64 interval = 0; interval < of.size(); interval++) {
        const i64 low = std::lower_bound(blocks.begin(), blocks.end(), of.starts[interval]) - blocks.begin();
        const i64 high = std::lower_bound(blocks.begin(), blocks.end(), of.ends[interval]) - blocks.begin();
        numbers[interval] = low < high ? low * many + high - 1 : -1;
    }
}

// What tiles add up to, rows by columns: see `ranges.judged`.
struct Totals {
    Array<double, 2> gains;
    Array<i64, 2> classes, violations;
};

// Judges every tile, a combination at a time. Only blocks that occur in it are looked at.
struct Tiling {
    Sorted sorted;
    Intervals rows, columns;
    Criteria required;
    Totals totals;
    std::vector<i64> row_numbers, column_numbers, row_blocks, column_blocks, bounds;
    std::vector<Tally> strips;  // of each column that occurs, in the rows that are looked at
    Tally tally, spare;
    std::vector<double> worths;
    std::vector<i8> verdicts;
    enum Verdict : i8 { NOT_NEEDED, WANTED, FINE, BROKEN };

    void judge_all() {
        row_numbers.resize(rows.size());
        column_numbers.resize(columns.size());
        for (i64 combination = 0; combination + 1 < sorted.first.size(); combination++)
            judge_combination(sorted.first[combination], sorted.first[combination + 1]);
    }

    void judge_combination(i64 low, i64 high) {
        row_blocks.clear();
        column_blocks.clear();
        bounds.clear();
        for (i64 g = low; g < high; g++) {
            column_blocks.push_back(sorted.columns[g]);
            if (row_blocks.empty() || row_blocks.back() != sorted.rows[g]) {
                row_blocks.push_back(sorted.rows[g]);
                bounds.push_back(g);
            }
        }
        bounds.push_back(high);
        std::sort(column_blocks.begin(), column_blocks.end());
        column_blocks.erase(std::unique(column_blocks.begin(), column_blocks.end()), column_blocks.end());
        number_intervals(rows, row_blocks, row_numbers);
        number_intervals(columns, column_blocks, column_numbers);
        // The intervals of rows that are the same blocks of this combination.
        const i64 many = i64(row_blocks.size());
        std::vector<std::vector<i64>> alike(many * many);
        for (i64 row = 0; row < rows.size(); row++)
            if (row_numbers[row] >= 0) alike[row_numbers[row]].push_back(row);
        for (i64 first = 0; first < many; first++) {
            strips.resize(column_blocks.size());
            for (Tally& strip : strips) strip.clear();
            for (i64 last = first; last < many; last++) {
                for (i64 g = bounds[last]; g < bounds[last + 1]; g++) {
                    const auto place = std::lower_bound(column_blocks.begin(), column_blocks.end(),
                                                        sorted.columns[g]);
                    add(g, strips[place - column_blocks.begin()]);
                }
                const auto& some = alike[first * many + last];
                if (some.empty()) continue;
                judge_strips();
                for (i64 row : some) put(row);
            }
        }
    }

    void add(i64 g, Tally& strip) {
        const i64 begin = sorted.entries.starts[g], entries = sorted.entries.starts[g + 1] - begin;
        strip.add(sorted.entries.places + begin, sorted.entries.numbers + begin, entries, sorted.sizes[g],
                  spare);
    }

    // Judges the runs of columns that intervals are made of.
    void judge_strips() {
        const i64 many = i64(strips.size());
        verdicts.assign(many * many, NOT_NEEDED);
        worths.resize(many * many);
        for (i64 number : column_numbers)
            if (number >= 0) verdicts[number] = WANTED;
        for (i64 first = 0; first < many; first++) {
            tally.clear();
            for (i64 last = first; last < many; last++) {
                const Tally& strip = strips[last];
                if (strip.records > 0)
                    tally.add(strip.places.data(), strip.numbers.data(), i64(strip.places.size()),
                              strip.records, spare);
                const i64 number = first * many + last;
                if (verdicts[number] == WANTED && tally.records > 0) judge_tally(number);
            }
        }
    }

    void judge_tally(i64 number) {
        i64 starts[2] = {0, i64(tally.places.size())};
        Array<i64, 2> counts;
        counts.data = &tally.records;
        counts.shape[0] = counts.shape[1] = 1;
        const Sparse<i64> one{counts, {starts, tally.places.data(), tally.numbers.data()}};
        const bool broken =
            double(tally.records) < required.least || breaks(one, 0, required.policy);
        verdicts[number] = broken ? BROKEN : FINE;
        worths[number] = worth_of(one, 0, required);
    }

    void put(i64 row) {
        double* gains = totals.gains(row).data;
        i64 *classes = totals.classes(row).data, *violations = totals.violations(row).data;
        for (i64 column = 0; column < columns.size(); column++) {
            const i64 number = column_numbers[column];
            if (number < 0 || verdicts[number] < FINE) continue;
            gains[column] += worths[number];
            classes[column]++;
            violations[column] += verdicts[number] == BROKEN;
        }
    }
};

}  // namespace anonymizer
