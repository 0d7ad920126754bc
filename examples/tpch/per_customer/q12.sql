-- Shipping modes and order priority, counted for each customer first, the modes side by side: three lines at most.
SELECT
    SUM(mail_high) AS mail_high_line_count,
    SUM(mail_low) AS mail_low_line_count,
    SUM(ship_high) AS ship_high_line_count,
    SUM(ship_low) AS ship_low_line_count
FROM (
    SELECT
        o_custkey,
        CLAMP(COUNTIF(l_shipmode = 'MAIL' AND o_orderpriority IN ('1-URGENT', '2-HIGH')), 0, 3) AS mail_high,
        CLAMP(COUNTIF(l_shipmode = 'MAIL' AND o_orderpriority NOT IN ('1-URGENT', '2-HIGH')), 0, 3) AS mail_low,
        CLAMP(COUNTIF(l_shipmode = 'SHIP' AND o_orderpriority IN ('1-URGENT', '2-HIGH')), 0, 3) AS ship_high,
        CLAMP(COUNTIF(l_shipmode = 'SHIP' AND o_orderpriority NOT IN ('1-URGENT', '2-HIGH')), 0, 3) AS ship_low
    FROM orders, lineitem
    WHERE o_orderkey = l_orderkey
      AND l_commitdate < l_receiptdate
      AND l_shipdate < l_commitdate
      AND l_receiptdate >= DATE '1994-01-01'
      AND l_receiptdate < DATE '1995-01-01'
    GROUP BY o_custkey
) AS own
