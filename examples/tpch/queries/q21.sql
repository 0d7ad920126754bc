-- Suppliers who kept orders waiting: lines that alone made an order late, by the supplier's nation.
SELECT nationkey, SUM(lines) AS numwait
FROM (
    SELECT
        o_custkey,
        o_orderkey,
        COUNT(DISTINCT l_suppkey) AS suppliers,
        COUNT(DISTINCT CASE WHEN l_receiptdate > l_commitdate THEN l_suppkey END) AS late_suppliers,
        MAX(CASE WHEN l_receiptdate > l_commitdate THEN s_nationkey END) AS nationkey,
        CLAMP(COUNTIF(l_receiptdate > l_commitdate), 0, 7) AS lines
    FROM orders, lineitem, supplier
    WHERE o_orderkey = l_orderkey AND l_suppkey = s_suppkey AND o_orderstatus = 'F'
    GROUP BY o_custkey, o_orderkey
    HAVING suppliers > 1 AND late_suppliers = 1
) AS waiting
GROUP BY nationkey
ORDER BY numwait DESC
