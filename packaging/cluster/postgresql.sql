-- The role and the database of the ledgers and users that hosts share: psql -f postgresql.sql, as a superuser, once.
-- Then give the role a password with \password adomnia, which sends no plain text, and put it into PGPASSFILE.

CREATE ROLE adomnia LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 150;
CREATE DATABASE adomnia OWNER adomnia ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
REVOKE ALL ON DATABASE adomnia FROM PUBLIC;

-- Nothing in it is for others: schemas are made by the hosts themselves, and belong to the role.
\connect adomnia
REVOKE ALL ON SCHEMA public FROM PUBLIC;

-- A commit that was reported is on the disk, and on a synchronous standby where there is one.
ALTER DATABASE adomnia SET synchronous_commit = 'on';
-- Texts of statements have names of users in them.
ALTER ROLE adomnia SET log_statement = 'none';
