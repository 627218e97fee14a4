"""Machine code is compiled by another process, and kept for all that come later."""

from math import inf

from anonymizer.explorer.warming import warm, warmed
from anonymizer.kernels import driver


def test_a_small_search_has_the_driver_compiled(monkeypatch):
    monkeypatch.setattr(driver, "pays", lambda listed: False)
    warm()
    assert driver.advance_of(False).signatures


def test_the_page_never_compiles_the_driver_itself(monkeypatch):
    monkeypatch.setattr(driver.account, "spent", 5.0)
    with warmed():
        assert driver.account.spent == -inf
        driver.account.spent += 1000
        assert not driver.account.spent > driver.WORTH_COMPILING
