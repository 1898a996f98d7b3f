-- A key is unique on each host: acme/shop#7 may exist on two hosts.
DROP INDEX records_once;
CREATE UNIQUE INDEX records_once ON records (once_key, kind, coalesce(lower(host), ''));
