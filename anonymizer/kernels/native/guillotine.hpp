// The best guillotine tree over all boxes of a grid: see `guillotine.py` for shapes and their numbers.
#pragma once

#include "single.hpp"

namespace anonymizer {

// The shapes of all axes, one axis after the other: see `guillotine.Shapes`.
struct Shapes {
    Array<i64> numbers, blocks, base, block;
    Array<bool> allowed;
    Array<i64> first, left, right;
    Array<i64, 2> summed;
    Array<i64> runs;

    static Shapes of(Given& given) {
        Shapes shapes;
        given.read(shapes.numbers, shapes.blocks, shapes.base, shapes.block, shapes.allowed,
                   shapes.first, shapes.left, shapes.right, shapes.summed, shapes.runs);
        return shapes;
    }

    i64 axes() const { return numbers.size(); }
};

// The sums over every shape of an axis, of `width` numbers each.
inline void sum_up(const i64* source, i64* into, i64 width, i64 axis, const Shapes& shapes) {
    const i64 base = shapes.base[axis];
    for (i64 shape = 0; shape < shapes.numbers[axis]; shape++) {
        i64* sums = into + shape * width;
        const i64 block = shapes.block[base + shape];
        if (block >= 0) {
            std::copy(source + block * width, source + (block + 1) * width, sums);
        } else {
            const i64* one = into + shapes.summed(base + shape, 0) * width;
            const i64* other = into + shapes.summed(base + shape, 1) * width;
            for (i64 i = 0; i < width; i++) sums[i] = one[i] + other[i];
        }
    }
}

// Sums of each axis but the first and the last, one after the other; those of the last in `room`.
struct Layers {
    i64* rooms;
    i64 *starts, *widths, *digits;
};

// Counts up the digits of the axes before `last`, from `first` on, as an odometer does; the axis that
// moved, `first` - 1 after the last number.
inline i64 count_up(i64* digits, i64 first, i64 last, const Shapes& shapes) {
    i64 axis = last - 1;
    for (; axis >= first; axis--) {
        if (++digits[axis] < shapes.numbers[axis]) break;
        digits[axis] = 0;
    }
    return axis;
}

// The worth of every box of some shapes of the first axis, from `begin` on.
inline void evaluate(Array<i64, 2> tables, i64 begin, const Layers& layers, const Shapes& shapes,
                     const Criteria& required, const Room& room, double* found) {
    const i64 axes = shapes.axes(), last = axes - 1;
    const i64 number = shapes.numbers[last];
    const bool* allowed_last = shapes.allowed.data + shapes.base[last];
    for (i64 first = 0; first < tables.size(); first++) {
        std::fill(layers.digits, layers.digits + axes, 0);
        i64 level = 1;
        while (level > 0) {
            for (i64 axis = level; axis < axes; axis++) {
                const i64* source = axis == 1 ? tables(first).data
                                              : layers.rooms + layers.starts[axis - 1] +
                                                    layers.digits[axis - 1] * layers.widths[axis - 1];
                i64* into = axis == last ? room.counts.data : layers.rooms + layers.starts[axis];
                sum_up(source, into, layers.widths[axis], axis, shapes);
            }
            bool allowed = shapes.allowed[begin + first];
            for (i64 axis = 1; axis < last; axis++)
                allowed = allowed && shapes.allowed[shapes.base[axis] + layers.digits[axis]];
            if (allowed) judge(room, number, required);
            for (i64 shape = 0; shape < number; shape++)
                *found++ = allowed && allowed_last[shape] ? room.worths[shape] : -INF;
            level = count_up(layers.digits, 1, last, shapes);
            if (level > 0) level++;
        }
    }
}

// Divides some neighbouring boxes into two, wherever that is better.
inline void improve(double* whole, const double* one, const double* other, i64 number) {
    for (i64 i = 0; i < number; i++) {
        const double both = one[i] + other[i], kept = whole[i];
        whole[i] = both > kept + TIE ? both : kept;
    }
}

// Divides the runs of some blocks, which are numbered by length and then by their start.
//
// All runs of a length together, so that neighbours in memory are added to neighbours.
inline void divide_runs(double* values, i64 blocks) {
    i64 whole = blocks;
    for (i64 length = 2; length <= blocks; length++) {
        i64 left = 0, right = whole - (blocks - length + 2);
        for (i64 part = 1; part < length; part++) {
            improve(values + whole, values + left, values + right + part, blocks - length + 1);
            left += blocks - part + 1;
            right -= blocks - (length - part) + 2;
        }
        whole += blocks - length + 1;
    }
}

// Divides some neighbouring boxes along the last axis, wherever that is better.
inline void divide_last(double* values, double limit, const Shapes& shapes) {
    const i64 last = shapes.axes() - 1;
    const i64 base = shapes.base[last], runs = shapes.runs[last];
    divide_runs(values, runs);
    for (i64 shape = runs * (runs + 1) / 2; shape < shapes.numbers[last]; shape++) {
        double best = values[shape];
        // Merging acceptable classes gives an acceptable one: what is none has no split into two.
        if (!(-INF < best && best < limit)) continue;
        for (i64 split = shapes.first[base + shape]; split < shapes.first[base + shape + 1]; split++) {
            const double both = values[shapes.left[split]] + values[shapes.right[split]];
            if (both > best + TIE) best = both;
        }
        values[shape] = best;
    }
}

// Replaces the worth of every box by that of the best tree that divides it.
inline void best_trees(Array<double> values, double limit, const i64* strides, const Shapes& shapes,
                       i64* digits) {
    const i64 last = shapes.axes() - 1, number = shapes.numbers[last];
    std::fill(digits, digits + last + 1, 0);
    for (i64 begin = 0; begin < values.size(); begin += number) {
        for (i64 axis = 0; axis < last; axis++) {
            const i64 shape = shapes.base[axis] + digits[axis];
            double* rest = values.data + begin - digits[axis] * strides[axis];
            for (i64 split = shapes.first[shape]; split < shapes.first[shape + 1]; split++)
                improve(values.data + begin, rest + shapes.left[split] * strides[axis],
                        rest + shapes.right[split] * strides[axis], number);
        }
        divide_last(values.data + begin, limit, shapes);
        count_up(digits, 0, last, shapes);
    }
}

}  // namespace anonymizer
