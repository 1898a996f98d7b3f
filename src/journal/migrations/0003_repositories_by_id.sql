-- Repositories by the forge's id, which a rename does not change. `filed_as` is the name in the columns and
-- keys of all other tables. It never changes either; `name` is the forge's present name.
CREATE TABLE repositories (
    host TEXT NOT NULL,
    filed_as TEXT NOT NULL,
    node_id TEXT NOT NULL,
    name TEXT NOT NULL
);
CREATE UNIQUE INDEX repositories_filed ON repositories (host, lower(filed_as));
CREATE UNIQUE INDEX repositories_id ON repositories (host, node_id);

-- The names for which the forge answered with a repository, in lower case. A name belongs to the repository
-- that answered last.
CREATE TABLE repository_names (
    host TEXT NOT NULL,
    name TEXT NOT NULL,
    filed_as TEXT NOT NULL,
    PRIMARY KEY (host, name)
);
