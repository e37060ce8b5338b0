from __future__ import annotations

import threading

import pytest
from fake_halls import FakeDocs, FakeMemory

from scaffale.errors import StoreUnreadable
from scaffale.server.halls import Halls


def test_a_hall_is_opened_once_and_only_when_asked_for():
    opened = []
    barrier = threading.Barrier(8)

    def open_memory():
        opened.append(threading.current_thread().name)
        return FakeMemory()

    def use():
        barrier.wait()
        seen.append(halls.memory)

    seen = []
    halls = Halls(open_memory, lambda: pytest.fail("docs were not asked for"))
    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 1
    assert len({id(hall) for hall in seen}) == 1


def test_closing_closes_what_is_open_and_the_next_use_opens_again():
    halls = Halls(FakeMemory, FakeDocs)
    first = halls.memory
    halls.close()
    assert first.closed
    assert halls.memory is not first
    halls.close()
    halls.close()


def test_a_hall_that_cannot_be_opened_is_tried_again():
    tries = []

    def open_docs():
        tries.append(1)
        if len(tries) == 1:
            raise StoreUnreadable("not now")
        return FakeDocs()

    halls = Halls(FakeMemory, open_docs)
    with pytest.raises(StoreUnreadable):
        _ = halls.docs
    assert isinstance(halls.docs, FakeDocs)
