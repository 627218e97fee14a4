// What Python passes to a kernel: numbers and arrays, in the order in which the kernel reads them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace anonymizer {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr double INF = std::numeric_limits<double>::infinity();

// A number in `value`, or an array that begins there; `native.py` writes these.
struct Argument {
    i64 kind;
    i64 value;
    i64 shape[3];  // 1 where an array has no such axis
};

constexpr i64 WHOLE = 0, REAL = 1;

// The kind of an array: NumPy's letter and the bytes of an item.
template <class T>
constexpr i64 kind_of() {
    using Item = std::remove_const_t<T>;
    const char letter = std::is_same_v<Item, bool>           ? 'b'
                        : std::is_floating_point_v<Item>     ? 'f'
                        : std::is_signed_v<Item>             ? 'i'
                                                             : 'u';
    return i64(letter) << 8 | i64(sizeof(Item));
}

// Thrown where an argument is of another kind than the kernel reads.
struct Mismatch {};

// A contiguous array of D axes that Python owns.
template <class T, int D = 1>
struct Array {
    T* data = nullptr;
    i64 shape[D] = {};

    i64 size() const { return shape[0]; }
    T& operator[](i64 i) const { return data[i]; }
    T& operator()(i64 i, i64 j) const { return data[i * shape[1] + j]; }
    T& operator()(i64 i, i64 j, i64 k) const { return data[(i * shape[1] + j) * shape[2] + k]; }

    Array<T, D - 1> operator()(i64 i) const {
        Array<T, D - 1> inner;
        i64 step = 1;
        for (int axis = 1; axis < D; axis++) step *= inner.shape[axis - 1] = shape[axis];
        inner.data = data + i * step;
        return inner;
    }

    void fill(T value) const {
        i64 items = 1;
        for (i64 length : shape) items *= length;
        for (i64 item = 0; item < items; item++) data[item] = value;
    }
};

// Reads arguments one after the other.
class Given {
    const Argument* next;

  public:
    explicit Given(const Argument* arguments) : next(arguments) {}

    i64 kind() const { return next->kind; }

    i64 whole() {
        if (next->kind != WHOLE) throw Mismatch();
        return (next++)->value;
    }

    double real() {
        if (next->kind == WHOLE) return double(whole());
        if (next->kind != REAL) throw Mismatch();
        double number;
        std::memcpy(&number, &(next++)->value, sizeof number);
        return number;
    }

    template <class T, int D = 1>
    Array<T, D> array() {
        if (next->kind != kind_of<T>()) throw Mismatch();
        Array<T, D> found;
        found.data = reinterpret_cast<T*>(next->value);
        for (int axis = 0; axis < D; axis++) found.shape[axis] = next->shape[axis];
        next++;
        return found;
    }

    // Reads arrays into the places given, in their order.
    template <class... Arrays>
    void read(Arrays&... places) {
        (take(places), ...);
    }

  private:
    template <class T, int D>
    void take(Array<T, D>& place) {
        place = array<T, D>();
    }
};

// Calls a kernel for counts of the type that the next argument has.
template <class Kernel>
double by_counts(const Given& given, Kernel kernel) {
    switch (given.kind()) {
        case kind_of<i16>(): return kernel(i16());
        case kind_of<i32>(): return kernel(i32());
        case kind_of<i64>(): return kernel(i64());
    }
    throw Mismatch();
}

}  // namespace anonymizer
