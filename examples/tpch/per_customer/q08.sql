-- National market share, added up for each customer first, the years side by side: one of the dearest lines at most.
SELECT SUM(brazil_1995) / SUM(all_1995) AS mkt_share_1995, SUM(brazil_1996) / SUM(all_1996) AS mkt_share_1996
FROM (
    SELECT
        c_custkey,
        CLAMP(SUM(volume) FILTER (WHERE o_year = 1995 AND nation = 'BRAZIL'), 0, 105000) AS brazil_1995,
        CLAMP(SUM(volume) FILTER (WHERE o_year = 1996 AND nation = 'BRAZIL'), 0, 105000) AS brazil_1996,
        CLAMP(SUM(volume) FILTER (WHERE o_year = 1995), 0, 105000) AS all_1995,
        CLAMP(SUM(volume) FILTER (WHERE o_year = 1996), 0, 105000) AS all_1996
    FROM (
        SELECT
            c_custkey,
            EXTRACT(YEAR FROM o_orderdate) AS o_year,
            l_extendedprice * (1 - l_discount) AS volume,
            n2.n_name AS nation
        FROM part, supplier, lineitem, orders, customer, nation AS n1, nation AS n2, region
        WHERE p_partkey = l_partkey
          AND s_suppkey = l_suppkey
          AND l_orderkey = o_orderkey
          AND o_custkey = c_custkey
          AND c_nationkey = n1.n_nationkey
          AND n1.n_regionkey = r_regionkey
          AND r_name = 'AMERICA'
          AND s_nationkey = n2.n_nationkey
          AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
          AND p_type = 'ECONOMY ANODIZED STEEL'
    ) AS all_nations
    GROUP BY c_custkey
) AS own
