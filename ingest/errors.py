"""What can go wrong on the way in, as one tree. Vendor errors are translated once, in each adapter.

IngestError
├── Conflict            a compare-and-set lost the race: read again and start over
├── FolderBusy          another process holds the index folder (says which)
├── StoreUnavailable    a store cannot be opened or does not answer
├── IndexMismatch       the index was made by another embedding model or analyser
├── ModelMissing        the embedding weights are not where settings say, or not what they should be
├── FetchFailed         no usable answer from a web server (timeout, refused, 5xx, truncated, too large)
│   ├── PageTooLarge    the page is larger than the site's limit
│   ├── PageTooCostly   reading the page takes more time or memory than one page may
│   ├── Unreachable     no connection to the host: no such name, refused, a certificate that is not trusted
│   └── Blocked         not fetched on purpose: off the site's hosts, private address, robots.txt
├── SiteUnusable        a site's start gives nothing to index
├── UnknownSite         an event is of a site that the settings do not name
├── RecordTooLarge      a record is larger than the event log takes
├── TooManyDeadLetters  so many pages in a row could not be indexed that it is hardly the pages' fault
├── Undecodable         the bytes of a record are not what its topic holds
├── GroupBusy           a consumer group has members already
└── BackupUnusable      a backup is truncated, damaged, or holds what this version cannot put back
"""


class IngestError(Exception):
    """Base of all errors of this layer; the message is fit for a user and says what to do."""


class Conflict(IngestError):
    """A compare-and-set lost the race."""


class FolderBusy(IngestError):
    """Another process holds the index folder."""


class StoreUnavailable(IngestError):
    """A store cannot be opened or does not answer."""


class IndexMismatch(IngestError):
    """The index on disk was made by another embedding model or analyser."""


class ModelMissing(IngestError):
    """The embedding model cannot be loaded."""


class FetchFailed(IngestError):
    """No usable answer from the server. `retry_after` in seconds where the server named one."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PageTooLarge(FetchFailed):
    """The page is larger than the site's limit."""


class PageTooCostly(FetchFailed):
    """Reading the page takes more time or memory than one page may."""


class Unreachable(FetchFailed):
    """There is no connection to the host at all."""


class Blocked(FetchFailed):
    """Not fetched on purpose."""


class SiteUnusable(IngestError):
    """A site's start gives nothing to index."""


class UnknownSite(IngestError):
    """An event is of a site that the settings do not name."""


class RecordTooLarge(IngestError):
    """A record is larger than the event log takes or can hand out."""


class TooManyDeadLetters(IngestError):
    """So many pages in a row could not be indexed that it is hardly the pages' fault."""


class Undecodable(IngestError):
    """The bytes of a record are not what its topic holds."""


class GroupBusy(IngestError):
    """A consumer group has members already: stop them first."""


class BackupUnusable(IngestError):
    """A backup is truncated, damaged, or holds what this version cannot put back."""


INSTALLATION = (FolderBusy, IndexMismatch, ModelMissing)
"""Errors of the installation, not of what was asked of it: whoever serves ends with them, so that nothing is given up
that another process, rightly set up, can do."""
