//! What every plan node with one input says of itself in the same way. Not what a node does.

/// The functions of `ExecutionPlan` that are the same for every node with the fields `input` and
/// `properties`, in its `impl`: `one_input!(NameExec, |this, input| this.over(input))`, where the closure
/// makes the node over another input.
macro_rules! one_input {
    ($node:ident, |$this:ident, $input:ident| $over:expr) => {
        fn name(&self) -> &'static str {
            stringify!($node)
        }

        fn properties(&self) -> &Arc<PlanProperties> {
            &self.properties
        }

        fn benefits_from_input_partitioning(&self) -> Vec<bool> {
            vec![false]
        }

        fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
            vec![&self.input]
        }

        fn replace_children(
            self: Arc<Self>,
            children: Vec<Arc<dyn ExecutionPlan>>,
            _: ReplaceChildrenOptions,
        ) -> Result<Arc<dyn ExecutionPlan>> {
            let $this = self;
            match <[_; 1]>::try_from(children) {
                Ok([$input]) => Ok(Arc::new($over)),
                Err(_) => internal_err!("{} has one input", stringify!($node)),
            }
        }

        fn with_new_children(
            self: Arc<Self>,
            children: Vec<Arc<dyn ExecutionPlan>>,
        ) -> Result<Arc<dyn ExecutionPlan>> {
            self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
        }
    };
}
pub(in crate::engine) use one_input;
