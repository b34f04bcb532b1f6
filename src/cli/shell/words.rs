//! The words of SQL for colours and completion: those that queries over traces use. Not all of the engine.

const KEYWORDS: &str = "\
    ALL AND ANTI AS ASC BETWEEN BIGINT BOOLEAN BY CASE CAST CREATE CROSS CURRENT DESC DESCRIBE DISTINCT DOUBLE \
    DROP ELSE END EXCEPT EXISTS EXPLAIN ANALYZE FALSE FILTER FIRST FOLLOWING FROM FULL GROUP HAVING ILIKE IN \
    INNER INTERSECT IS JOIN LAST LATERAL LEFT LIKE LIMIT NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER \
    PARTITION PRECEDING QUALIFY RANGE RECURSIVE REPLACE RIGHT ROW ROWS SELECT SEMI SHOW SUMMARIZE TABLE TABLES \
    THEN TRUE UNBOUNDED UNION USING VALUES VARCHAR VIEW WHEN WHERE WINDOW WITH WITHIN";

/// In capitals; after lower-case letters, lower-case words are offered.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.split_ascii_whitespace()
}

/// In any case.
pub(super) fn is_keyword(word: &str) -> bool {
    keywords().any(|k| k.eq_ignore_ascii_case(word))
}
