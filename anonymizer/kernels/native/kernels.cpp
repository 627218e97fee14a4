// What Python calls: see `native.py`. A kernel returns NaN where an argument is of another kind than it
// reads, and infinity where there is no memory; it holds no lock of the interpreter's while it works.
#include <new>

#include "boxes.hpp"
#include "guillotine.hpp"
#include "merging.hpp"
#include "ranges.hpp"
#include "searching.hpp"
#include "splitting.hpp"

#ifdef _WIN32
#define KERNEL extern "C" __declspec(dllexport) double
#else
#define KERNEL extern "C" __attribute__((visibility("default"))) double
#endif

namespace anonymizer {

template <class Kernel>
double reading(const Argument* arguments, Kernel kernel) {
    try {
        Given given(arguments);
        return double(kernel(given));
    } catch (const Mismatch&) {
        return std::nan("");
    } catch (const std::bad_alloc&) {
        return INF;
    }
}

template <class T>
Entries<T> entries(Given& given) {
    i64* starts = given.array<i64>().data;
    i32* places = given.array<i32>().data;
    return {starts, places, given.array<T>().data};
}

// Calls what it is given with classes of either kind: of dense ones with counts alone.
template <class Kernel>
double by_classes(Given& given, Kernel kernel) {
    const bool listed = given.whole() != 0;
    return by_counts(given, [&](auto zero) {
        using T = decltype(zero);
        const auto counts = given.array<T, 2>();
        if (listed) return double(kernel(Sparse<T>{counts, entries<T>(given)}));
        return double(kernel(Dense<T>{counts}));
    });
}

template <class T>
Rows<T> rows(Given& given) {
    const auto counts = given.array<T, 2>();
    const auto keys = given.array<u64, 2>();
    return {keys.size(), keys, counts, given.array<i32>().data};
}

template <class T>
Merged<T> merged(Given& given) {
    i32* table = given.array<i32>().data;
    i32* slots = given.array<i32>().data;
    const auto found = given.array<u64, 2>();
    const auto sums = given.array<T, 2>();
    return {table, slots, found, sums, given.array<i32>().data, nullptr};
}

Merging merging(Given& given, Criteria& required) {
    const auto classes = given.array<i64, 2>();
    const auto into = given.array<i64>();
    required = Criteria::of(given);
    required.policy.sums = given.array<i64>().data;
    return {classes, into, required};
}

template <class T, bool LISTED>
double search(Given& given, i64 which, i64 most, i64 lot) {
    double* verdict = given.array<double>().data;
    const Driver<T, LISTED> driver(given, verdict);
    return which == LOOK ? driver.look(most) : driver.advance(Search(which), most, lot);
}

}  // namespace anonymizer

using namespace anonymizer;

KERNEL insert_keys(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const auto keys = given.array<i64>(), records = given.array<i64>();
        const i64 groups = given.whole();
        const auto table = given.array<i32>();
        const auto found = given.array<i64>(), counted = given.array<i64>();
        i64 bits = 0;
        while ((i64(1) << bits) < table.size()) bits++;
        return insert(keys, records, bits, table, found, counted, groups);
    });
}

KERNEL merge_classes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const bool listed = given.whole() != 0;
        return by_counts(given, [&](auto zero) {
            using T = decltype(zero);
            const auto from = rows<T>(given);
            const u64* mask = given.array<u64>().data;
            auto into = merged<T>(given);
            if (!listed) return double(group_rows(from, mask, table_bits(from.number), into));
            const auto of = entries<T>(given);
            const auto room = given.array<i32, 2>();
            const Scratch<T> scratch{given.array<T>(), given.array<u64>()};
            into.group_of = room(0).data;
            const i64 groups = group_rows(from, mask, table_bits(from.number), into);
            merge_entries(of, from.number, groups, room, scratch, entries<T>(given));
            return double(groups);
        });
    });
}

KERNEL broken_records(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        return by_classes(given, [&](auto classes) {
            const double least = given.real();
            Policy policy;
            policy.laid = Laid::of(given);
            policy.logs = Logs::of(given);
            policy.sums = given.array<i64>().data;
            const i64 most = given.whole();
            return broken_classes(classes, least, policy, most, given.array<bool>().data);
        });
    });
}

KERNEL summed_uncertainty(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        return by_classes(given, [&](auto classes) {
            const i64 start = given.whole(), stop = given.whole();
            const Logs logs = Logs::of(given);
            const i64 last = classes.counts.shape[1] - 1;
            double bits = 0.0;
            for (i64 row = 0; row < classes.counts.size(); row++) {
                const double inside = bits_within(classes.about(row, start, stop), logs);
                bits += logs.xlogx(i64(classes.counts(row, last))) - inside;
            }
            return bits;
        });
    });
}

KERNEL judge_classes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const Room room = Room::of(given);
        const i64 number = given.whole();
        judge(room, number, Criteria::of(given));
        return 0;
    });
}

KERNEL agglomerate_classes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        Criteria required;
        const Merging of = merging(given, required);
        u64* state = given.array<u64>().data;
        agglomerate(of, state, given.real());
        return 0;
    });
}

KERNEL join_cheapest_classes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        Criteria required;
        const Merging of = merging(given, required);
        join_cheapest(of, given.whole());
        return 0;
    });
}

KERNEL anneal_classes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const auto cells = given.array<i64, 2>();
        i64* labels = given.array<i64>().data;
        const auto classes = given.array<i64, 2>();
        double* worths = given.array<double>().data;
        Criteria required = Criteria::of(given);
        required.policy.sums = given.array<i64>().data;
        u64* state = given.array<u64>().data;
        const i64 steps = given.whole();
        anneal({cells, labels, classes, worths, required}, state, steps, given.real());
        return 0;
    });
}

KERNEL split_classes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        i32* order = given.array<i32>().data;
        const auto starts = given.array<i32>();
        const i32* codes = given.array<i32>().data;
        const auto counts = given.array<i32>();
        i32* keys = given.array<i32>().data;
        const auto room = given.array<i32, 2>();
        return split(order, starts, codes, counts, keys, room, given.array<i32>().data);
    });
}

KERNEL any_uniform_class(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const i32* order = given.array<i32>().data;
        const auto starts = given.array<i32>();
        return any_uniform(order, starts, given.array<i32>().data);
    });
}

KERNEL spread_shapes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const i64* table = given.array<i64>().data;
        i64* into = given.array<i64>().data;
        const i64 width = given.whole();
        sum_up(table, into, width, 0, Shapes::of(given));
        return 0;
    });
}

KERNEL evaluate_boxes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const auto tables = given.array<i64, 2>();
        const i64 begin = given.whole();
        i64* rooms = given.array<i64>().data;
        i64* starts = given.array<i64>().data;
        i64* widths = given.array<i64>().data;
        i64* digits = given.array<i64>().data;
        const Shapes shapes = Shapes::of(given);
        const Criteria required = Criteria::of(given);
        const Room room = Room::of(given);
        evaluate(tables, begin, {rooms, starts, widths, digits}, shapes, required, room,
                 given.array<double>().data);
        return 0;
    });
}

KERNEL divide_boxes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const auto values = given.array<double>();
        const double limit = given.real();
        const i64* strides = given.array<i64>().data;
        const Shapes shapes = Shapes::of(given);
        best_trees(values, limit, strides, shapes, given.array<i64>().data);
        return 0;
    });
}

KERNEL sort_box(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        i64* order = given.array<i64>().data;
        const i64 low = given.whole(), high = given.whole();
        const auto blocks = given.array<i32, 2>();
        const i64 axis = given.whole();
        return sort_into(order, low, high, blocks, axis, given.array<bool>().data);
    });
}

KERNEL best_box_cuts(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const Ground ground = Ground::of(given);
        const i64 low = given.whole(), high = given.whole();
        return best_cuts(ground, low, high, given.array<i64, 2>());
    });
}

KERNEL follow_box_cuts(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const Ground ground = Ground::of(given);
        const Path path = Path::of(given);
        const auto locks = given.array<u64>(), worths = given.array<u64>();
        const Greedy greedy(ground, path, {locks, worths});
        const i64 low = given.whole(), high = given.whole();
        const auto bounds = given.array<i64, 2>();
        const auto axes = given.array<i64>();
        const auto left = given.array<bool, 2>();
        const auto at = given.array<i64>();
        const auto found = given.array<double>();
        const auto half = given.array<i64, 2>();
        for (i64 cut = 0; cut < axes.size(); cut++)
            found[cut] = greedy.followed(low, high, bounds, axes[cut], left(cut).data, at[cut], half);
        return 0;
    });
}

KERNEL sum_suffixes(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const Steps steps = Steps::of(given);
        const double* values = given.array<double>().data;
        sum_suffixes(steps, values, given.array<double, 3>());
        return 0;
    });
}

KERNEL walk_columns(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const Steps rows = Steps::of(given), columns = Steps::of(given);
        const auto tiles = given.array<double, 2>();
        Walk over(rows, columns, tiles, given.array<double, 3>());
        const double floor = given.real(), slack = given.real();
        const i64 together = given.whole(), most = given.whole();
        Prefix best;
        const bool ended = over.walk(floor, slack, together, most, best);
        std::copy(best.begin(), best.end(), given.array<i64>().data);
        return i64(ended);
    });
}

KERNEL judge_tiles(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        Tiling tiling;
        tiling.sorted = Sorted::of(given);
        tiling.rows = Intervals::of(given);
        tiling.columns = Intervals::of(given);
        tiling.required = Criteria::of(given);
        tiling.required.policy.sums = given.array<i64>().data;
        given.read(tiling.totals.gains, tiling.totals.classes, tiling.totals.violations);
        tiling.judge_all();
        return 0;
    });
}

KERNEL search_lattice(const Argument* arguments) {
    return reading(arguments, [](Given& given) {
        const bool listed = given.whole() != 0;
        const i64 which = given.whole(), most = given.whole(), lot = given.whole();
        return by_counts(given, [&](auto zero) {
            using T = decltype(zero);
            given.array<T>();  // says which type counts have
            return listed ? search<T, true>(given, which, most, lot)
                          : search<T, false>(given, which, most, lot);
        });
    });
}
