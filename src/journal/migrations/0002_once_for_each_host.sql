-- What happens once happens once on each host: acme/shop#7 may be there on two of them.
DROP INDEX records_once;
CREATE UNIQUE INDEX records_once ON records (once_key, kind, coalesce(lower(host), ''));
