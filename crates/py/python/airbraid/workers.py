"""Worker processes on this machine, behind the interface of `concurrent.futures`.

What it has over `ProcessPoolExecutor`: a worker that dies takes with it only the call that it was at, and another takes its
place; workers are fresh interpreters, so that a script needs no `if __name__ == "__main__"` and nothing is forked.
What it has not: functions of the script itself, which a fresh interpreter cannot import.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import IO, Any, ParamSpec, TypeVar

from .errors import WorkerDied

P = ParamSpec("P")
T = TypeVar("T")

# The length of a message, before it.
_LENGTH = struct.Struct("<Q")

# A worker finds modules where its coordinator does; the script that began it all is not run again.
_START = "import sys; sys.path[:] = {path!r}; from airbraid.workers import serve; serve()"


class Workers(Executor):
    """`count` processes (none: as many as cores that this process may use), each for one call at a time."""

    # Some tenths of a millisecond: nobody need put several things into one.
    calls_are_cheap = True

    def __init__(self, count: int | None = None) -> None:
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise TypeError(f"workers: a whole number is needed, this is {count!r}")
        if count is not None and count < 1:
            raise ValueError(f"workers: 1 at least is needed, this is {count}")
        self.count = self._max_workers = count or len(os.sched_getaffinity(0))
        self._calls: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * self.count
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [threading.Thread(target=self._attend, args=(i,), daemon=True) for i in range(self.count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Has a free worker call `fn`, a function that it can import. The future raises WorkerDied if that worker dies."""
        call = pickle.dumps((fn, args, kwargs))
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the workers were shut down")
            self._calls.put((future, call))
        return future

    @property
    def pids(self) -> list[int]:
        """The processes that are there."""
        return [process.pid for process in self._processes if process is not None and process.poll() is None]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls. `cancel_futures`: forgets those that no worker has begun."""
        with self._lock:
            if not self._closed:
                self._closed = True
                if cancel_futures:
                    self._forget()
                for _ in self._threads:
                    self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """Ends the workers at once, whatever they are at."""
        self.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            if process is not None:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _forget(self) -> None:
        with contextlib.suppress(queue.Empty):
            while (item := self._calls.get_nowait()) is not None:
                item[0].cancel()
                item[0].set_running_or_notify_cancel()

    def _attend(self, index: int) -> None:
        """The thread of a worker: hands it calls, one after the other."""
        while (item := self._calls.get()) is not None:
            future, call = item
            if future.set_running_or_notify_cancel():
                self._answer(index, future, call)
        process = self._processes[index]
        if process is not None:
            _close(process)

    def _answer(self, index: int, future: Future[Any], call: bytes) -> None:
        try:
            process = self._processes[index]
            if process is None or process.poll() is not None:
                process = self._processes[index] = _start()
            answer = _ask(process, call)
        except OSError as error:
            future.set_exception(error)
            return
        if answer is None:
            status = process.wait()
            _close(process)
            why = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
            future.set_exception(WorkerDied(f"worker process {process.pid} ended ({why}) while a run was on it"))
            return
        try:
            good, value = pickle.loads(answer)
        except Exception as error:  # whatever unpickling a stranger's value can raise
            good, value = False, error
        if good:
            future.set_result(value)
        else:
            future.set_exception(value)


def _start() -> subprocess.Popen[bytes]:
    # In a group of its own: Ctrl-C is for the coordinator to hear.
    command = [sys.executable, "-c", _START.format(path=sys.path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def _ask(process: subprocess.Popen[bytes], call: bytes) -> bytes | None:
    """The answer of a worker; none if it is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _write(process.stdin, call)
    except BrokenPipeError:
        return None
    return _read(process.stdout)


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None


def serve() -> None:
    """The life of a worker: calls from standard input, answers to standard output, until the coordinator is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What a call prints is no answer.
    os.dup2(2, 1)
    while (call := _read(sys.stdin.buffer)) is not None:
        with contextlib.suppress(BrokenPipeError):
            _write(answers, _call(call))


def _call(call: bytes) -> bytes:
    try:
        fn, args, kwargs = pickle.loads(call)
        return pickle.dumps((True, fn(*args, **kwargs)))
    except BaseException as error:  # everything goes back to who asked
        try:
            return pickle.dumps((False, error))
        except Exception:  # an exception that cannot be pickled goes back as its text
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
