// Classes split: the records in the order of their classes, class by class.
//
// Refinement as Paige and Tarjan (1987, "Three partition refinement algorithms") split blocks: a class
// costs its records, and a class of one record, which nothing splits, is looked at no more.
#pragma once

#include "counting.hpp"

namespace anonymizer {

// Whether all records of a class have one code: most do, once there are many classes.
inline bool agree(const i32* order, i64 begin, i64 size, const i32* codes) {
    const i32 first = codes[order[begin]];
    i64 place = 1;
    while (place < size && codes[order[begin + place]] == first) place++;
    return place == size;
}

// Splits every class by one more code, and forgets those of one record; how many are left.
//
// Class g is order[starts[g] : starts[g + 1]], of two records or more. The order is overwritten with
// the new one, which never reaches beyond what was read; records of a class keep theirs. The new
// starts stand in `into`. See `Ordered.by` in risk/refinement.py for the room.
inline i64 split(i32* order, Array<i32> starts, const i32* codes, Array<i32> counts, i32* keys,
                 Array<i32, 2> room, i32* into) {
    i32 *records = room(0).data, *slots = room(1).data, *kinds = room(2).data;
    i64 write = 0, classes = 0;
    into[0] = 0;
    for (i64 number = 0; number + 1 < starts.size(); number++) {
        const i64 begin = starts[number], size = starts[number + 1] - starts[number];
        if (agree(order, begin, size, codes)) {
            for (i64 place = 0; place < size; place++) order[write + place] = order[begin + place];
            write += size;
            into[++classes] = i32(write);
            continue;
        }
        if (size == 2) continue;
        i64 bits = 2;
        while ((i64(1) << bits) < 2 * size && (i64(1) << bits) < counts.size()) bits++;
        const i64 shift = 64 - bits, last = (i64(1) << bits) - 1;
        i64 number_of_kinds = 0;
        for (i64 place = 0; place < size; place++) {
            const i32 record = order[begin + place], code = codes[record];
            i64 slot = i64((u64(code) * MIX) >> shift);
            while (counts[slot] != 0 && keys[slot] != code) slot = (slot + 1) & last;
            if (counts[slot] == 0) {
                keys[slot] = code;
                kinds[number_of_kinds++] = i32(slot);
            }
            counts[slot]++;
            records[place] = record;
            slots[place] = i32(slot);
        }
        // From here on what counts the records of a code says where the next of them goes. One that is
        // alone goes where another, which came later, overwrites it.
        for (i64 kind = 0; kind < number_of_kinds; kind++) {
            const i64 alike = counts[kinds[kind]];
            counts[kinds[kind]] = i32(write);
            if (alike > 1) {
                write += alike;
                into[++classes] = i32(write);
            }
        }
        for (i64 place = 0; place < size; place++) order[counts[slots[place]]++] = records[place];
        for (i64 kind = 0; kind < number_of_kinds; kind++) counts[kinds[kind]] = 0;
    }
    return classes;
}

// Whether all records of some class have the same code.
inline bool any_uniform(const i32* order, Array<i32> starts, const i32* codes) {
    for (i64 number = 0; number + 1 < starts.size(); number++)
        if (agree(order, starts[number], starts[number + 1] - starts[number], codes)) return true;
    return false;
}

}  // namespace anonymizer
