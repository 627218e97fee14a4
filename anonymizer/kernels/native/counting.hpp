// Counting keys and merging classes.
//
// Open-addressing hash tables hold row number + 1, 0 being free; they are at most half full, so that
// probing ends, and zeroed again by the rows that filled them.
#pragma once

#include "given.hpp"

namespace anonymizer {

constexpr u64 MIX = 0x9E3779B97F4A7C15;

// 2^i by DE_BRUIJN has other first 6 bits for each i: the number of a word's lowest bit by those.
constexpr u64 DE_BRUIJN = 0x03F79D71B4CB0A89;

struct Trailing {
    i8 number[64] = {};
    constexpr Trailing() {
        for (int bit = 0; bit < 64; bit++) number[((u64(1) << bit) * DE_BRUIJN) >> 58] = i8(bit);
    }
};

constexpr Trailing TRAILING;

// Bits of a hash table that is at most half full of so many rows.
inline i64 table_bits(i64 rows) {
    i64 bits = 4;
    while ((i64(1) << bits) < 2 * rows) bits++;
    return bits;
}

// Adds the records of keys to those counted already; how many distinct keys there are then.
//
// `found` and `counted` have room for every key being new, and `table` twice that. Without `records`
// every key counts once.
inline i64 insert(Array<i64> keys, Array<i64> records, i64 bits, Array<i32> table, Array<i64> found,
                  Array<i64> counted, i64 groups) {
    const i64 shift = 64 - bits, last_slot = (i64(1) << bits) - 1;
    for (i64 row = 0; row < keys.size(); row++) {
        const i64 key = keys[row], times = records.size() ? records[row] : 1;
        i64 slot = i64((u64(key) * MIX) >> shift);
        while (true) {
            const i64 place = i64(table[slot]) - 1;
            if (place < 0) {
                table[slot] = i32(groups + 1);
                found[groups] = key;
                counted[groups] = times;
                groups++;
                break;
            }
            if (found[place] == key) {
                counted[place] += times;
                break;
            }
            slot = (slot + 1) & last_slot;
        }
    }
    return groups;
}

// Classes to merge: see `FrequencySet`.
template <class T>
struct Rows {
    i64 number;
    Array<u64, 2> keys;
    Array<T, 2> counts;
    const i32* members;
};

// Room for merged classes, and the hash table that finds them.
template <class T>
struct Merged {
    i32* table;
    i32* slots;
    Array<u64, 2> found;
    Array<T, 2> sums;
    i32* firsts;
    i32* group_of;  // the group of each row; null where nobody wants it
};

// Keys of one word with sizes alone: loops over one word or column take time.
template <class T>
i64 group_sizes(Rows<T> rows, u64 mask, i64 bits, Merged<T> into) {
    const i64 shift = 64 - bits, last_slot = (i64(1) << bits) - 1;
    const u64* keys = rows.keys.data;
    const T* counts = rows.counts.data;
    u64* found = into.found.data;
    T* sums = into.sums.data;
    i64 groups = 0;
    for (i64 row = 0; row < rows.number; row++) {
        const u64 key = keys[row] & mask;
        i64 slot = i64((key * MIX) >> shift);
        while (true) {
            const i64 place = i64(into.table[slot]) - 1;
            if (place < 0) {
                into.table[slot] = i32(groups + 1);
                into.slots[groups] = i32(slot);
                into.firsts[groups] = rows.members[row];
                found[groups] = key;
                sums[groups] = counts[row];
                groups++;
                break;
            }
            if (found[place] == key) {
                sums[place] += counts[row];
                break;
            }
            slot = (slot + 1) & last_slot;
        }
    }
    return groups;
}

// Any keys with any columns.
template <class T>
i64 group_histograms(Rows<T> rows, const u64* mask, i64 bits, Merged<T> into) {
    const i64 shift = 64 - bits, last_slot = (i64(1) << bits) - 1;
    const i64 words = rows.keys.shape[1], columns = rows.counts.shape[1];
    i64 groups = 0;
    for (i64 row = 0; row < rows.number; row++) {
        const u64* key = rows.keys.data + row * words;
        const T* counts = rows.counts.data + row * columns;
        u64 mixed = 0;
        for (i64 word = 0; word < words; word++) mixed = (mixed ^ (key[word] & mask[word])) * MIX;
        i64 slot = i64(mixed >> shift), place;
        while (true) {
            place = i64(into.table[slot]) - 1;
            if (place < 0) {
                place = groups++;
                into.table[slot] = i32(groups);
                into.slots[place] = i32(slot);
                into.firsts[place] = rows.members[row];
                u64* found = into.found.data + place * words;
                T* sums = into.sums.data + place * columns;
                for (i64 word = 0; word < words; word++) found[word] = key[word] & mask[word];
                for (i64 column = 0; column < columns; column++) sums[column] = counts[column];
                break;
            }
            const u64* found = into.found.data + place * words;
            bool same = true;
            for (i64 word = 0; word < words; word++) same &= found[word] == (key[word] & mask[word]);
            if (same) {
                T* sums = into.sums.data + place * columns;
                for (i64 column = 0; column < columns; column++) sums[column] += counts[column];
                break;
            }
            slot = (slot + 1) & last_slot;
        }
        if (into.group_of) into.group_of[row] = i32(place);
    }
    return groups;
}

// Merges rows whose masked keys agree; the number of groups.
//
// Neighbours often agree, but which do is hard to foresee: to look for that first costs the processor
// more than to look up every row.
template <class T>
i64 group_rows(Rows<T> rows, const u64* mask, i64 bits, Merged<T> into) {
    const bool small = rows.keys.shape[1] == 1 && rows.counts.shape[1] == 1 && !into.group_of;
    const i64 groups = small ? group_sizes(rows, mask[0], bits, into)
                             : group_histograms(rows, mask, bits, into);
    for (i64 group = 0; group < groups; group++) into.table[into.slots[group]] = 0;
    return groups;
}

// Entries of sparse classes: the values that occur in each: see `Histograms`.
template <class T>
struct Entries {
    i64* starts;
    i32* places;
    T* numbers;
};

// Zeros by column, and marks of filled columns and of filled words of these; zeros again afterwards.
template <class T>
struct Scratch {
    Array<T> sums;
    Array<u64> marks;
};

// Takes the lowest bit from a word; its number.
inline i64 take_lowest(u64& word) {
    const u64 low = word & (~word + 1);
    word ^= low;
    return TRAILING.number[(low * DE_BRUIJN) >> 58];
}

// Moves what was summed to the entries from `write` on, in order; where the next one goes.
//
// From mark to mark and not from column to column: a class has few of many values.
template <class T>
i64 drain(Scratch<T> scratch, i64 write, Entries<T> into) {
    const i64 words = (scratch.sums.size() + 63) >> 6;
    for (i64 top = words; top < scratch.marks.size(); top++) {
        u64 filled = scratch.marks[top];
        scratch.marks[top] = 0;
        while (filled) {
            const i64 word = ((top - words) << 6) + take_lowest(filled);
            u64 inside = scratch.marks[word];
            scratch.marks[word] = 0;
            while (inside) {
                const i64 column = (word << 6) + take_lowest(inside);
                into.places[write] = i32(column);
                into.numbers[write] = scratch.sums[column];
                scratch.sums[column] = 0;
                write++;
            }
        }
    }
    return write;
}

// Sorts rows by group: the rows of group g stand in `order` up to ends[g].
inline void by_group(const i32* group_of, i64 rows, i64 groups, i32* order, i32* ends) {
    for (i64 group = 0; group <= groups; group++) ends[group] = 0;
    for (i64 row = 0; row < rows; row++) ends[group_of[row] + 1]++;
    for (i64 group = 0; group < groups; group++) ends[group + 1] += ends[group];
    for (i64 row = 0; row < rows; row++) order[ends[group_of[row]]++] = i32(row);
}

// Merges the entries of the rows of each group, in time linear in them.
//
// `room` (3, rows + 1) holds the group of each row in its first row. The entries that are written are
// not those that are read.
template <class T>
void merge_entries(Entries<T> from, i64 rows, i64 groups, Array<i32, 2> room, Scratch<T> scratch,
                   Entries<T> into) {
    const i32 *order = room(1).data, *ends = room(2).data;
    const i64 words = (scratch.sums.size() + 63) >> 6;
    by_group(room(0).data, rows, groups, room(1).data, room(2).data);
    i64 begin = 0, write = 0;
    into.starts[0] = 0;
    for (i64 group = 0; group < groups; group++) {
        const i64 end = ends[group];
        if (end - begin == 1) {
            const i64 row = order[begin];
            for (i64 entry = from.starts[row]; entry < from.starts[row + 1]; entry++, write++) {
                into.places[write] = from.places[entry];
                into.numbers[write] = from.numbers[entry];
            }
        } else {
            for (i64 place = begin; place < end; place++) {
                const i64 row = order[place];
                for (i64 entry = from.starts[row]; entry < from.starts[row + 1]; entry++) {
                    const i64 column = from.places[entry], word = column >> 6;
                    scratch.sums[column] += from.numbers[entry];
                    scratch.marks[word] |= u64(1) << (column & 63);
                    scratch.marks[words + (word >> 6)] |= u64(1) << (word & 63);
                }
            }
            write = drain(scratch, write, into);
        }
        into.starts[group + 1] = write;
        begin = end;
    }
}

}  // namespace anonymizer
