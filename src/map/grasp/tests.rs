//! Tests of the mapping of Grasp traces.
