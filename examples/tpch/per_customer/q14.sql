-- Promotion effect, added up for each customer first: four of the dearest lines at most, three of them promoted.
SELECT 100.00 * SUM(promoted) / SUM(spent) AS promo_revenue
FROM (
    SELECT
        o_custkey,
        CLAMP(SUM(l_extendedprice * (1 - l_discount)) FILTER (WHERE p_type LIKE 'PROMO%'), 0, 315000) AS promoted,
        CLAMP(SUM(l_extendedprice * (1 - l_discount)), 0, 420000) AS spent
    FROM orders, lineitem, part
    WHERE o_orderkey = l_orderkey
      AND l_partkey = p_partkey
      AND l_shipdate >= DATE '1995-09-01'
      AND l_shipdate < DATE '1995-10-01'
    GROUP BY o_custkey
) AS own
