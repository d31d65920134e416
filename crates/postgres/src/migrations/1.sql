-- `@` is the schema with its dot. Keys sort by their bytes, as in every store.

CREATE TABLE @layout (
    number integer PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);

-- Sequences survive a crash, so neither versions nor positions repeat.
CREATE SEQUENCE @version;
-- A log takes its positions from blocks of 65,536.
CREATE SEQUENCE @block MAXVALUE 140737488355327;

CREATE TABLE @record (
    key text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL,
    version bigint NOT NULL,
    expires bigint
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- A crash of the server empties unlogged tables, and the epoch with them.
CREATE UNLOGGED TABLE @epoch (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    bits bytea NOT NULL
);

-- `birth` names the life of a log, `horizon` is the last dropped event or the birth, `tail` the last
-- event, and `block_end` the last position of the block.
CREATE UNLOGGED TABLE @log (
    key text COLLATE "C" PRIMARY KEY,
    birth bigint NOT NULL,
    horizon bigint NOT NULL,
    tail bigint NOT NULL,
    block_end bigint NOT NULL,
    events bigint NOT NULL,
    bytes bigint NOT NULL,
    expires bigint
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

CREATE UNLOGGED TABLE @event (
    birth bigint,
    position bigint,
    value bytea NOT NULL,
    PRIMARY KEY (birth, position)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE UNLOGGED TABLE @counter (
    key text COLLATE "C" PRIMARY KEY,
    sum bigint NOT NULL,
    expires bigint
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Sealed values do not compress.
ALTER TABLE @record ALTER COLUMN value SET STORAGE EXTERNAL;
ALTER TABLE @event ALTER COLUMN value SET STORAGE EXTERNAL;

CREATE INDEX record_expires ON @record (expires) WHERE expires IS NOT NULL;
CREATE INDEX log_expires ON @log (expires) WHERE expires IS NOT NULL;
CREATE INDEX counter_expires ON @counter (expires) WHERE expires IS NOT NULL;

-- A purge is the last action of its transaction and skips locked rows, so it causes no deadlock.
CREATE FUNCTION @purge_records(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM @record WHERE key = ANY (ARRAY(
        SELECT r.key FROM @record r WHERE r.expires <= p_now ORDER BY r.expires LIMIT 64
        FOR UPDATE SKIP LOCKED));
END $$;

CREATE FUNCTION @purge_counters(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM @counter WHERE key = ANY (ARRAY(
        SELECT c.key FROM @counter c WHERE c.expires <= p_now ORDER BY c.expires LIMIT 64
        FOR UPDATE SKIP LOCKED));
END $$;

-- Fewer at once, because each log may have a thousand events.
CREATE FUNCTION @purge_logs(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (
        DELETE FROM @log WHERE key = ANY (ARRAY(
            SELECT l.key FROM @log l WHERE l.expires <= p_now ORDER BY l.expires LIMIT 4
            FOR UPDATE SKIP LOCKED))
        RETURNING birth
    )
    DELETE FROM @event e USING gone WHERE e.birth = gone.birth;
END $$;

-- `p_expected`: NULL accepts any state, 0 requires no record, another number is a version.
CREATE FUNCTION @put(
    p_now bigint, p_key text, p_value bytea, p_expected bigint, p_expires bigint,
    OUT is_done boolean, OUT version bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_expires bigint;
    is_row boolean;
BEGIN
    LOOP
        SELECT r.version, r.expires INTO version, v_expires
            FROM @record r WHERE r.key = p_key FOR UPDATE;
        is_row := FOUND;
        IF v_expires <= p_now THEN
            version := NULL;
        END IF;
        is_done := p_expected IS NULL OR p_expected = coalesce(version, 0);
        IF NOT is_done THEN
            RETURN;
        END IF;
        version := nextval('@version');
        IF is_row THEN
            UPDATE @record r SET value = p_value, version = put.version, expires = p_expires
                WHERE r.key = p_key;
            EXIT;
        END IF;
        INSERT INTO @record AS r VALUES (p_key, p_value, put.version, p_expires)
            ON CONFLICT DO NOTHING;
        -- Without a row another writer was first, and its record decides.
        EXIT WHEN FOUND;
    END LOOP;
    PERFORM @purge_records(p_now);
END $$;

-- Returns the removed version, or NULL if there was no record.
CREATE FUNCTION @remove(
    p_now bigint, p_key text, p_expected bigint, OUT is_done boolean, OUT version bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_expires bigint;
BEGIN
    SELECT r.version, r.expires INTO version, v_expires
        FROM @record r WHERE r.key = p_key FOR UPDATE;
    IF v_expires <= p_now THEN
        version := NULL;
    END IF;
    is_done := p_expected IS NULL OR p_expected = coalesce(version, 0);
    IF is_done THEN
        DELETE FROM @record r WHERE r.key = p_key;
        PERFORM @purge_records(p_now);
    END IF;
END $$;

-- `p_tail`: NULL accepts any tail, 0 requires no log. Returns the tail.
CREATE FUNCTION @append(
    p_now bigint, p_key text, p_events bytea[], p_tail bigint,
    p_max_events bigint, p_max_bytes bigint, p_expires bigint,
    OUT is_done boolean, OUT tail bigint
) LANGUAGE plpgsql AS $$
DECLARE
    v_log @log;
    v_added bigint := cardinality(p_events);
    v_base bigint;
    v_dropped bigint;
    is_row boolean;
    is_alive boolean;
BEGIN
    SELECT * INTO v_log FROM @log l WHERE l.key = p_key FOR UPDATE;
    is_row := FOUND;
    IF NOT is_row THEN
        -- One creator at a time. It takes its block after the blocks of earlier lives.
        PERFORM pg_advisory_xact_lock(hashtextextended('@log ' || p_key, 0));
        SELECT * INTO v_log FROM @log l WHERE l.key = p_key FOR UPDATE;
        is_row := FOUND;
    END IF;
    is_alive := is_row AND (v_log.expires IS NULL OR v_log.expires > p_now);
    tail := CASE WHEN is_alive THEN v_log.tail ELSE 0 END;
    is_done := p_tail IS NULL OR p_tail = tail;
    IF NOT is_done OR (v_added = 0 AND NOT is_alive) THEN
        RETURN;
    END IF;
    IF NOT is_alive THEN
        IF is_row THEN
            DELETE FROM @event e WHERE e.birth = v_log.birth;
        END IF;
        v_base := nextval('@block') * 65536;
        v_log := ROW(p_key, v_base, v_base, v_base, v_base + 65535, 0, 0, p_expires);
    END IF;
    v_base := v_log.tail;
    IF v_base + v_added > v_log.block_end THEN
        v_base := nextval('@block') * 65536;
        v_log.block_end := v_base + 65535;
    END IF;
    IF v_added > 0 THEN
        INSERT INTO @event SELECT v_log.birth, v_base + e.number, e.value
            FROM unnest(p_events) WITH ORDINALITY AS e (value, number);
        v_log.tail := v_base + v_added;
        v_log.events := v_log.events + v_added;
        v_log.bytes := v_log.bytes + (SELECT sum(octet_length(e)) FROM unnest(p_events) e);
    END IF;
    WHILE v_log.events > 1 AND (v_log.events > p_max_events OR v_log.bytes > p_max_bytes) LOOP
        DELETE FROM @event e WHERE e.birth = v_log.birth AND e.position = (
                SELECT min(o.position) FROM @event o
                WHERE o.birth = v_log.birth AND o.position > v_log.horizon)
            RETURNING e.position, octet_length(e.value) INTO v_log.horizon, v_dropped;
        v_log.events := v_log.events - 1;
        v_log.bytes := v_log.bytes - v_dropped;
    END LOOP;
    tail := v_log.tail;
    IF is_row THEN
        UPDATE @log l SET birth = v_log.birth, horizon = v_log.horizon, tail = v_log.tail,
            block_end = v_log.block_end, events = v_log.events, bytes = v_log.bytes, expires = p_expires
            WHERE l.key = p_key;
    ELSE
        INSERT INTO @log VALUES (p_key, v_log.birth, v_log.horizon, v_log.tail, v_log.block_end,
            v_log.events, v_log.bytes, p_expires);
    END IF;
    PERFORM @purge_logs(p_now);
END $$;

CREATE FUNCTION @forget(p_now bigint, p_key text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_birth bigint;
    v_expires bigint;
BEGIN
    DELETE FROM @log l WHERE l.key = p_key RETURNING l.birth, l.expires INTO v_birth, v_expires;
    IF v_birth IS NULL THEN
        RETURN false;
    END IF;
    DELETE FROM @event e WHERE e.birth = v_birth;
    RETURN v_expires IS NULL OR v_expires > p_now;
END $$;

CREATE FUNCTION @add(p_now bigint, p_key text, p_amount bigint, p_expires bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_sum bigint;
BEGIN
    INSERT INTO @counter AS c VALUES (p_key, p_amount, p_expires)
        ON CONFLICT (key) DO UPDATE SET
            sum = CASE WHEN c.expires <= p_now THEN excluded.sum ELSE c.sum + excluded.sum END,
            expires = CASE WHEN c.expires <= p_now THEN excluded.expires ELSE c.expires END
        RETURNING c.sum INTO v_sum;
    PERFORM @purge_counters(p_now);
    RETURN v_sum;
END $$;

CREATE FUNCTION @first_epoch(p_fresh bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    v_bits bytea;
BEGIN
    SELECT e.bits INTO v_bits FROM @epoch e;
    IF FOUND THEN
        RETURN v_bits;
    END IF;
    INSERT INTO @epoch (bits) VALUES (p_fresh) ON CONFLICT DO NOTHING;
    SELECT e.bits INTO v_bits FROM @epoch e;
    RETURN v_bits;
END $$;
