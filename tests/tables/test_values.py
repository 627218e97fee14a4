"""Texts of values, worked by hand."""

from decimal import Decimal

import pytest

from anonymizer.tables.values import text_of


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e16, "10000000000000000"),
        (-2.5e18, "-2500000000000000000"),
        (9.223372036854776e18, "9223372036854776000"),
        (1e300, "1" + "0" * 300),
        (1e301, "1e+301"),  # of more digits than anybody measures
    ],
)
def test_a_large_number_has_one_text_however_it_is_written(number, text):
    assert text_of(number) == text_of(str(number)) == text_of(text) == text


@pytest.mark.parametrize("code", ["1e5", "1e+15", "1e16", "1E+16", "01e+16", "10e+16", "1e+016"])
def test_what_no_float_is_written_as_stays_a_code(code):
    assert text_of(code) == code


def test_a_large_decimal_is_a_float_of_the_same_number():
    assert text_of(Decimal("1E+16")) == text_of("1e+16")
