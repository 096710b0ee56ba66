"""Work on items that copies of a process share: found is what one process finds, whatever becomes of the copies."""

import os

import pytest

from hierlearn.plan import shared as module
from hierlearn.plan.faults import Fault
from hierlearn.plan.shared import shared

ITEMS = [f"study-{number}" for number in range(3 * module.LEAST + 1)]


@pytest.fixture(autouse=True, params=[1, 2, 3])
def cores(request, monkeypatch):
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: set(range(request.param)), raising=False)
    monkeypatch.setattr(module.threading, "active_count", lambda: 1)
    return request.param


def test_a_process_with_threads_is_not_copied(monkeypatch):
    monkeypatch.setattr(module.threading, "active_count", lambda: 2)
    assert {fault.found for fault in shared(found_by, ITEMS)} == {str(os.getpid())}


def found_by(name):
    return Fault(name, ("claims",), str(os.getpid()), "anything")


def test_results_come_in_the_order_of_the_items_from_as_many_processes_as_cores(cores):
    found = shared(found_by, ITEMS)
    assert [fault.file for fault in found] == ITEMS
    assert len({fault.found for fault in found}) == cores
    assert shared(found_by, []) == []


def test_few_items_are_worth_no_copy():
    assert {fault.found for fault in shared(found_by, ITEMS[: module.LEAST])} == {str(os.getpid())}


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), 9), lambda: os._exit(0), lambda: 1 / 0])
def test_what_a_copy_did_not_find_is_found_here(end):
    here = os.getpid()

    def anywhere_but_here(name):
        if os.getpid() != here:
            end()
        return found_by(name)

    assert [(fault.file, fault.found) for fault in shared(anywhere_but_here, ITEMS)] == [(i, str(here)) for i in ITEMS]


def test_an_error_is_raised_where_it_can_be_told():
    def fails(name):
        raise LookupError(name)

    with pytest.raises(LookupError, match="study-"):
        shared(fails, ITEMS)
