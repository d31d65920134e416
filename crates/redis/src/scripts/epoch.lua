-- Returns the epoch of the store, and stores a new one first if there is none.
-- KEYS: epoch. ARGV: new epoch.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
