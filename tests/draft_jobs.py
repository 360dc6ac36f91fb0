"""Do the jobs of drafts in the process of a test, where the child process is not what it tests."""

from msgspec import json

from alignkit.annotate.lab import draft_child, draft_children
from alignkit.annotate.lab.draft_reading import DraftReader
from alignkit.annotate.lab.draft_records import DraftJob, ImportPairs, MakeProject
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.child import ChildProcess
from alignkit.errors import AlignkitError


class JobHere(ChildProcess):
    """Stands for the child process of a draft: it does the job itself, without limits."""

    def run(self):
        job = json.decode(json.encode(self._job), type=DraftJob)
        try:
            self.result = json.encode(result_of(job))
        except AlignkitError as problem:
            raise ProjectError(str(problem)) from None


def result_of(job):
    if isinstance(job.task, ImportPairs):
        return draft_child._import(job, job.task)
    if isinstance(job.task, MakeProject):
        return draft_child._create(job, job.task)
    return DraftReader(job, lambda *_: None).read()


def do_jobs_here(monkeypatch, folder):
    """Have the jobs of drafts done in this process, one at a time: each moves to its folder.

    Not where a draft changes while it is read: the child that reads it is stopped then.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setattr(draft_children, "ChildProcess", JobHere)
