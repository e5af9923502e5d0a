//! A graph under construction.

use super::proto::{
    AttributeProto, AttributeType, Dimension, Extent, FLOAT, GraphProto, INT64, NodeProto,
    TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};

/// The name of the dimension of a batch.
const BATCH: &str = "batch";

/// A graph to which nodes are added one after the other.
#[derive(Default)]
pub(super) struct Graph(GraphProto);

/// A value: an input's, a node's output or weights, by its name.
#[derive(Clone, Debug)]
pub(super) struct Value(String);

impl Graph {
    pub(super) fn new(name: &str) -> Graph {
        Graph(GraphProto { name: name.to_owned(), ..GraphProto::default() })
    }

    /// An input of floats, `[batch, shape…]`.
    pub(super) fn input(&mut self, name: &str, shape: &[usize], words: &str) -> Value {
        self.0.input.push(value_info(name, shape, words));
        Value(name.to_owned())
    }

    /// Makes a value an output of floats, `[batch, shape…]`.
    pub(super) fn output(&mut self, name: &str, value: Value, shape: &[usize], words: &str) {
        self.node("Identity", &[value], name, &[]);
        self.0.output.push(value_info(name, shape, words));
    }

    /// Weights in floats.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], data: &[f32]) -> Value {
        let bytes = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.weights(name, shape, FLOAT, bytes)
    }

    /// Whole numbers: indices and shapes.
    pub(super) fn numbers(&mut self, name: &str, data: &[i64]) -> Value {
        let bytes = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.weights(name, &[data.len()], INT64, bytes)
    }

    fn weights(&mut self, name: &str, shape: &[usize], data_type: i32, raw_data: Vec<u8>) -> Value {
        let dims = shape.iter().map(|&length| length as i64).collect();
        let name = name.to_owned();
        self.0.initializer.push(TensorProto { dims, data_type, name: name.clone(), raw_data });
        Value(name)
    }

    /// A node with one output, which is called `name`.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[Value],
        name: &str,
        attributes: &[(&str, Attribute)],
    ) -> Value {
        self.0.node.push(NodeProto {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output: vec![name.to_owned()],
            name: format!("{name}.{operator}"),
            op_type: operator.to_owned(),
            attribute: attributes.iter().map(|(name, value)| value.named(name)).collect(),
        });
        Value(name.to_owned())
    }

    pub(super) fn finish(self) -> GraphProto {
        self.0
    }
}

/// A constant of an operation.
pub(super) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
}

impl Attribute {
    fn named(&self, name: &str) -> AttributeProto {
        let (kind, i, ints) = match self {
            Attribute::Int(value) => (AttributeType::Int, Some(*value), Vec::new()),
            Attribute::Ints(values) => (AttributeType::Ints, None, values.clone()),
        };
        AttributeProto { name: name.to_owned(), i, ints, r#type: kind.into() }
    }
}

fn value_info(name: &str, shape: &[usize], words: &str) -> ValueInfoProto {
    let batch = Extent::Name(BATCH.to_owned());
    let rest = shape.iter().map(|&length| Extent::Value(length as i64));
    let dim = std::iter::once(batch).chain(rest).map(|value| Dimension { value: Some(value) });
    let shape = Some(TensorShapeProto { dim: dim.collect() });
    let tensor_type = Some(TensorTypeProto { elem_type: FLOAT, shape });
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { tensor_type }),
        doc_string: words.to_owned(),
    }
}
