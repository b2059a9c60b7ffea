# SPDX-License-Identifier: Apache-2.0
"""Which sequences wait, which are computed, and which pages and slots they have."""

from __future__ import annotations

from collections.abc import Iterable

from pages import OutOfPagesError, Pages
from sequence import Running


class Schedule:
    """Sequences in the order of their arrival. The oldest goes first, the youngest makes room.

    The oldest one always gets on: the pages of all the others are enough for it.
    """

    def __init__(self, pages: Pages, slots: int) -> None:
        self.pages = pages
        self.waiting: list[Running] = []
        self.running: list[Running] = []
        self._free_slots = list(range(slots - 1, -1, -1))

    def add(self, sequences: Iterable[Running]) -> None:
        """Let sequences wait, also those that have been running before."""
        self.waiting = sorted([*self.waiting, *sequences], key=lambda s: s.number)

    def admit(self) -> list[Running]:
        """Let waiting sequences run, as many as slots and pages allow."""
        admitted = []
        while self.waiting and self._free_slots and self._take_pages(self.waiting[0]):
            sequence = self.waiting.pop(0)
            sequence.slot = self._free_slots.pop()
            self.running = sorted([*self.running, sequence], key=lambda s: s.number)
            admitted.append(sequence)
        return admitted

    def _take_pages(self, sequence: Running) -> bool:
        size = self.pages.size
        # At least the last token is computed: its logits decide the next one.
        found = self.pages.find(sequence.chain(len(sequence.tokens) - 1, size))
        wanted = self.pages.needed(len(sequence.tokens)) - len(found)
        # Without a page to spare, the next token of another one would send this one back.
        spare = 1 if self.running else 0
        if spare and wanted + spare > self.pages.available:
            return False
        try:
            sequence.pages = self.pages.take(wanted, found)
        except OutOfPagesError:
            return False
        sequence.computed = len(found) * size
        return True

    def make_room(self, sequence: Running) -> int:
        """Make sure of a page for the newest token; return how many sequences were sent back.

        The sequence itself may be among them.
        """
        sent_back = 0
        while sequence in self.running:
            if len(sequence.pages) >= self.pages.needed(len(sequence.tokens)):
                break
            try:
                sequence.pages += self.pages.take(1)
            except OutOfPagesError:
                youngest = self.running[-1]
                self.leave(youngest)
                self.add([youngest])
                sent_back += 1
        return sent_back

    def leave(self, sequence: Running) -> None:
        """Take the slot and the pages of a running sequence, or its place in the queue."""
        if sequence not in self.running:
            self.waiting.remove(sequence)
            return
        self.running.remove(sequence)
        self._free_slots.append(sequence.slot)
        self.pages.release(sequence.pages)
        sequence.pages, sequence.slot, sequence.computed = [], -1, 0

    def computed(self, sequence: Running, tokens: int) -> None:
        """Note of how many tokens the cache has keys; let others use the full pages."""
        before, sequence.computed = sequence.computed, tokens
        size = self.pages.size
        keys = sequence.chain(tokens, size)
        for page in range(before // size, tokens // size):
            self.pages.publish(sequence.pages[page], keys[page])
