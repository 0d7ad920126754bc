-- Discounted revenue, added up for each customer first: one of the dearest such lines at most, 30 pieces for 63,000.
SELECT SUM(spent) AS revenue
FROM (
    SELECT o_custkey, CLAMP(SUM(l_extendedprice * (1 - l_discount)), 0, 65000) AS spent
    FROM orders, lineitem, part
    WHERE o_orderkey = l_orderkey
      AND p_partkey = l_partkey
      AND l_shipmode IN ('AIR', 'AIR REG')
      AND l_shipinstruct = 'DELIVER IN PERSON'
      AND (
        p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5
        OR p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10
        OR p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15
      )
    GROUP BY o_custkey
) AS own
