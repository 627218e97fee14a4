// Partitions of an order into intervals by dynamic programming, and the walk over those of two orders.
#pragma once

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "given.hpp"

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

// Puts the best interval before the rest, from the last block on, under N valuations at once: Bellman's
// recursion. `best` may be the rest, so that any number of intervals may follow. N is known when this
// is compiled for the walk, where it takes the time; 0 stands for `n`.
template <i64 N = 0>
void put_before(const Steps& steps, const double* values, const double* rest, double* best, i64 n = N) {
    if constexpr (N > 0) n = N;
    std::fill(best + steps.blocks() * n, best + (steps.blocks() + 1) * n, 0.0);
    for (i64 block = steps.blocks() - 1; block >= 0; block--) {
        double* into = best + block * n;
        double most[N > 0 ? N : 1];
        double* highest = N > 0 ? most : into;
        std::fill(highest, highest + n, -INF);
        for (i64 step = steps.first[block]; step < steps.first[block + 1]; step++) {
            const double* value = values + step * n;
            const double* after = rest + steps.ends[step] * n;
            for (i64 i = 0; i < n; i++) highest[i] = std::max(highest[i], value[i] + after[i]);
        }
        if (N > 0) std::copy(highest, highest + n, into);
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
    static constexpr i64 LANES = 8;

    Steps rows, columns;
    Array<double, 2> tiles;     // of each column, and of missing values in the last row
    Array<double, 3> suffixes;  // the best sums of the columns from each block on, for every row
    std::vector<double> worths, sums;

    Walk(Steps rows, Steps columns, Array<double, 2> tiles, Array<double, 3> suffixes)
        : rows(rows), columns(columns), tiles(tiles), suffixes(suffixes),
          worths(tiles.shape[1] * LANES), sums((rows.blocks() + 1) * 2 * LANES) {}

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

    // The bounds of a prefix with one of some columns more, `LANES` of them at the most.
    void bound(const Prefix& path, const std::vector<double>& base, i64 first, i64 number, double* bounds) {
        const i64 height = tiles.shape[1], layer = columns.left(i64(path.size()) + 1);
        for (i64 lane = 0; lane < LANES; lane++) {
            const i64 column = first + std::min(lane, number - 1);
            const double* tile = tiles(column).data;
            const double* suffix = suffixes(layer)(columns.ends[column]).data;
            for (i64 row = 0; row < height; row++)
                worths[row * LANES + lane] = base[row] + tile[row] + suffix[row];
        }
        const double* reached = reach();
        const double* missing = worths.data() + (height - 1) * LANES;
        for (i64 lane = 0; lane < number; lane++) bounds[lane] = reached[lane] + missing[lane];
    }

    // The sums of the best rows.
    const double* reach() {
        double *now = sums.data(), *next = now + (rows.blocks() + 1) * LANES;
        if (rows.most < 0) {
            put_before<LANES>(rows, worths.data(), now, now);
            return now;
        }
        std::fill(now, next, -INF);
        std::fill(next - LANES, next, 0.0);
        for (i64 round = 0; round < rows.most; round++) {
            put_before<LANES>(rows, worths.data(), now, next);
            std::swap(now, next);
        }
        return now;
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
    // where there are more than `most`. Columns that exceed it are `best`, and raise it.
    bool walk(double limit, double slack, i64 together, i64 most, Prefix& best) {
        std::priority_queue<Bounded, std::vector<Bounded>, std::greater<Bounded>> left;
        left.push({-INF, {}});
        i64 seen = 0;
        while (seen < most) {
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
                for (i64 first = columns.first[block]; first < stop; first += LANES) {
                    const i64 number = std::min(LANES, stop - first);
                    double bounds[LANES];
                    bound(prefix, base, first, number, bounds);
                    seen += number;
                    for (i64 lane = 0; lane < number; lane++) {
                        if (!(bounds[lane] > limit)) continue;
                        Prefix path = prefix;
                        path.push_back(i32(first + lane));
                        follow(path);  // what alone can follow is in the bound already
                        if (columns.ends[path.back()] == columns.blocks()) {
                            best = path;
                            limit = bounds[lane] + slack;
                        } else {
                            left.push({-bounds[lane], path});
                        }
                    }
                }
            }
        }
        return false;
    }
};

}  // namespace anonymizer
