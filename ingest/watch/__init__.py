"""Looking at sites: what is due, what changed, moved or went, and the guard that holds back what would go.
Events go out by the Announcer and nothing here changes a record; deploy comes in, by SiteWatcher, Crawl and the report."""
