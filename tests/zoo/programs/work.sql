WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 20000)
SELECT count(*), sum(length(word)) FROM (SELECT DISTINCT 'word' || (i * 7919 % 5000) AS word FROM numbers
WHERE 'word' || i LIKE '%4%' ORDER BY word DESC) AS words;
