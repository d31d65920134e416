-- Returns the clock of the server that has the epoch, because the clocks of a cluster differ.
-- KEYS: epoch.
return redis.call('TIME')
