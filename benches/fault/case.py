"""One injection: a directory is set up, a command is disturbed in it and goes on, and everything is looked at."""

import re
import time

from .place import Place
from .subjects import Comparison


class Case:
    """One injection: set up, inject, go on, examine."""

    def __init__(self, tools, subject, kind, rng):
        self.tools, self.subject, self.kind, self.rng = tools, subject, kind, rng
        self.place = Place(tools, tools.projects[subject.project])
        if subject.project == "warm":  # its runs are of an undisturbed time
            self.place.seen = self.place.trials()
        self.injected, self.struck, self.at = 0, "", {}
        self.lost, self.leaked, self.wrong = [], [], []
        self.codes, self.words = [], ""
        # Whether the fault may leave benchmarks without an answer, and whether duet may refuse to go on with what is left.
        self.may_fail, self.may_refuse, self.open = False, False, False

    def result(self, work):
        began = time.monotonic()
        try:
            work(self)
            if self.injected:
                self.go_on()
        finally:
            self.place.close()
        return {"kind": self.kind, "subject": self.subject.name, "injections": self.injected, "at": self.at, "struck": self.struck,
                "codes": self.codes, "words": self.words, "lost": self.lost, "leaked": self.leaked, "wrong": self.wrong,
                "open": self.open, "duet": self.tools.revision, "took_s": round(time.monotonic() - began, 2)}

    def begin(self, codes=(), **how):
        """A run that is disturbed. It must end with one of these codes, as undisturbed, or say in words why not."""
        args = self.subject.resume if self.subject.measures and self.place.seen else self.subject.args
        ran = self.place.duet(args, watched=self.subject.measures, **how)
        self.took_note(ran)
        if ran.crashed() and (ran.code not in codes or "panicked at" in ran.stderr):
            self.wrong.append(f"it crashed, {ran.code}: {ran.words()}")
        elif ran.code not in (*codes, *self.subject.ends):
            self.excuse(ran)
        elif self.subject.measures and ran.code in self.subject.ends and ran.json():
            self.wrong += self.subject.judge(ran)
        self.leaked += self.place.survivors()
        self.keep()
        return ran

    def took_note(self, ran):
        self.codes.append(ran.code)
        self.words = ran.words()[-200:]
        self.struck = ran.struck or self.struck

    def excuse(self, ran):
        """An end that is neither the usual one nor the one that was ordered."""
        report = ran.json() if self.subject.measures else None
        if not self.may_fail:
            self.wrong.append(f"exit code {ran.code}: {ran.words()}")
        elif report and "benchmarks" in report and "exit_code" in report:
            self.wrong += self.subject.judge(ran)
        elif ran.code not in (0, 1, 2) or not (ran.stderr.strip() or ran.stdout.strip()):
            self.wrong.append(f"exit code {ran.code} without words")

    def keep(self):
        """The store must have now what it had before, and from now on what it has now."""
        now = self.place.trials()
        if now is None:
            if not self.may_refuse:
                self.lost.append("the store cannot be read")
            return
        self.compare(self.place.seen, now)
        self.place.seen = now

    def compare(self, before, after):
        gone = [trial for trial in before if trial not in after]
        changed = [trial for trial in before if trial in after and before[trial] != after[trial]]
        if gone or changed:
            self.lost.append(f"of {len(before)} trials {len(gone)} are gone and {len(changed)} differ")

    def go_on(self):
        """The next run, undisturbed, and a look at everything."""
        subject, place = self.subject, self.place
        self.whole("before")
        before = dict(place.seen)
        ran = place.duet(subject.resume if subject.measures and before else subject.args)
        if subject.measures and ran.code == 2 and "came to its end" in ran.stderr:
            # It was killed behind its end. Only a run that measures sweeps up.
            ran = place.duet(subject.args)
            if isinstance(subject, Comparison):
                ran = place.duet(["show", "r1", "--format", "json"])
        elif ran.code == 2 and subject.done and subject.done in ran.stderr:
            ran = place.duet(["config", "check"])
        elif self.may_refuse and ran.code in (1, 2) and not ran.stdout and ran.stderr and not ran.crashed():
            self.took_note(ran)
            place.db.rename(place.db.with_name("damaged.db"))
            place.keeps.append(r"project/\.duet/(damaged\.db|duet\.db-.*)")
            for path in place.db.parent.glob("duet.db-*"):
                path.unlink()
            place.seen, before = {}, {}
            ran = place.duet(subject.args)
        self.finished(ran, before)

    def finished(self, ran, before):
        self.took_note(ran)
        if ran.crashed():
            self.wrong.append(f"going on it crashed, {ran.code}: {ran.words()}")
        elif not self.subject.done:
            self.wrong += [f"going on, {problem}" for problem in self.subject.judge(ran)]
        self.open = self.subject.is_open(ran)
        if self.open and not self.may_fail and ran.code not in (0, 3):
            self.wrong.append(f"going on, it came to no answer, exit code {ran.code}: {ran.words()}")
        self.leaked += self.place.survivors() + self.place.leftovers()
        self.lost += self.place.unsound()
        after = self.place.trials()
        self.compare(before, after or {})
        self.whole("after")

    def whole(self, when):
        """A file of the user's is the former one or the new one, and the new one in the end."""
        if not self.subject.precious:
            return
        path = self.place.project / self.subject.precious
        former = (self.tools.projects[self.subject.project] / self.subject.precious).read_text()
        content = path.read_text(errors="replace") if path.exists() else ""
        allowed = [self.subject.content] if when == "after" else [former, self.subject.content]
        if undated(content) not in map(undated, allowed):
            self.lost.append(f"`{self.subject.precious}` has {len(content)} characters {when} going on, instead of "
                             f"{' or '.join(str(len(text)) for text in allowed)}")

    def drawn(self, calls, part):
        """A call at which something happens, in a part of the command. Undisturbed there are so many, a few more or less."""
        first, last = (round(share * self.subject.calls[calls]) for share in part)
        return self.rng.randint(max(1, first), max(1, first, last))

    def some_trials(self, most=8):
        """A number of trials after which something happens."""
        self.at["trials"] = len(self.place.seen) + self.rng.randint(0, most)
        return self.at["trials"]

    def shim(self, do, calls="all", lasts=1, part=(0, 1), **more):
        self.at |= {"do": do, "call": self.drawn(calls, part), "of": calls, "lasts": lasts}
        return {"DO": do, "AT": self.at["call"], "CALLS": calls, "FOR": lasts} | more


def undated(text):
    """A plan names the day on which it was made, and some faults are about that."""
    return re.sub(r"\d{4}-\d\d-\d\d", "DAY", text)
