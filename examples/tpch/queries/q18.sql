-- Large volume customer: how many customers have an order of more than 300 pieces, instead of who.
SELECT COUNT(*) AS customers
FROM customer
WHERE c_custkey IN (
    SELECT o_custkey
    FROM orders, lineitem
    WHERE o_orderkey = l_orderkey
    GROUP BY o_custkey, o_orderkey
    HAVING SUM(l_quantity) > 300
)
