//! The network as a graph: the formulas of `gipf_model::Architecture` on the 7x7 grid of axial coordinates, batch normalisation folded.
//!
//! The convolution over a spot and its six neighbours is a 3x3 convolution whose two corners that are no neighbours are zero: the
//! operation that every runtime has fast. What it writes to the twelve cells that are no spots is set to zero after each rectifier.

use gipf_core::{Direction, Spot};
use gipf_model::{
    Architecture, Checkpoint, GLOBALS, PLANE_SPOTS, PLANES, PLAYS_LEFT_SCALE, POLICY_GLOBALS,
    POLICY_PLANES, POLICY_SIZE, TAPS,
};

use super::graph::{Attribute, Graph, Value};

/// Side of the grid.
pub(super) const SIDE: usize = 7;

/// The cell of a spot, row by row of the grid: a row is a column of the board.
pub(super) fn cell(spot: Spot) -> usize {
    spot.x() as usize * SIDE + spot.y() as usize
}

/// Where each tap of a weight stands in a 3x3 kernel.
fn kernel_cells() -> [usize; TAPS] {
    let mut cells = [4; TAPS];
    for (cell, direction) in cells[1..].iter_mut().zip(Direction::ALL) {
        // The centre of the board has all six neighbours.
        let step = Spot::ALL.into_iter().find_map(|spot| Some((spot, spot.step(direction)?)));
        if let Some((from, to)) = step {
            let (dx, dy) = (to.x() - from.x(), to.y() - from.y());
            *cell = (3 * (dx + 1) + dy + 1) as usize;
        }
    }
    cells
}

/// Adds the network to a graph.
pub(super) struct Network<'a> {
    graph: Graph,
    checkpoint: &'a Checkpoint,
    /// 1 where a spot is: `[1, 1, 7, 7]`.
    mask: Value,
    /// What a mean over the grid's cells is multiplied with to be one over the spots.
    cells_a_spot: Value,
}

impl<'a> Network<'a> {
    /// The graph of a checkpoint's network.
    pub(super) fn graph(checkpoint: &'a Checkpoint) -> Graph {
        let mut graph = Graph::new("gipf");
        let planes = graph.input(
            "planes",
            &[PLANES, SIDE, SIDE],
            "0 or 1; zero where the grid has no spot of the board",
        );
        let globals = graph.input("globals", &[GLOBALS], "numbers of the whole position");
        let mut spots = [0.0; SIDE * SIDE];
        Spot::ALL.iter().for_each(|&spot| spots[cell(spot)] = 1.0);
        let mask = graph.floats("spots", &[1, 1, SIDE, SIDE], &spots);
        let ratio = (SIDE * SIDE) as f32 / PLANE_SPOTS as f32;
        let cells_a_spot = graph.floats("cells_a_spot", &[1], &[ratio]);
        let mut network = Network { graph, checkpoint, mask, cells_a_spot };
        let trunk = network.trunk(planes, globals.clone());
        network.policy(trunk.clone());
        network.value(trunk, globals);
        network.graph
    }

    fn trunk(&mut self, planes: Value, globals: Value) -> Value {
        let Architecture { blocks, channels, global_pooling, .. } =
            self.checkpoint.header.architecture;
        let local = self.convolution("stem.conv", "stem.bn", planes);
        // What the globals add is scaled by the same batch normalisation.
        let norm = self.checkpoint.folded_norm("stem.bn");
        let mut weight = self.tensor("stem.globals.weight").to_vec();
        for (row, (factor, _)) in weight.chunks_mut(GLOBALS).zip(&norm) {
            row.iter_mut().for_each(|value| *value *= factor);
        }
        let weight = self.graph.floats("stem.globals.weight", &[channels, GLOBALS], &weight);
        let whole = self.gemm("stem.globals", globals, weight, None);
        let sum = self.add_to_cells("stem", local, whole);
        let mut x = self.on_spots("stem", sum);
        for block in 0..blocks {
            let name = |part: &str| format!("blocks.{block}.{part}");
            let h = self.convolution(&name("conv1"), &name("bn1"), x.clone());
            let h = self.on_spots(&name("half"), h);
            let y = self.convolution(&name("conv2"), &name("bn2"), h.clone());
            let mut y = self.node("Add", &[y, x], &name("residual"), &[]);
            if global_pooling {
                let pooled = self.pool(&name("pool"), h);
                let weight = self.weight(&name("pool.weight"));
                let bias = self.gemm(&name("pool.bias"), pooled, weight, None);
                y = self.add_to_cells(&name("pooled"), y, bias);
            }
            x = self.on_spots(&name("out"), y);
        }
        x
    }

    fn policy(&mut self, trunk: Value) {
        let p = self.convolution("policy.conv", "policy.bn", trunk);
        let p = self.on_spots("policy.first", p);
        let g = self.pool("policy.pool", p.clone());
        let bias = self.linear("policy.pool", "policy.pool.linear", g.clone());
        let p = self.add_to_cells("policy.sum", p, bias);
        let p = self.node("Relu", &[p], "policy.second", &[]);
        let weight = self.kernel("policy.planes", None);
        let bias = self.weight("policy.planes.bias");
        let planes = self.node("Conv", &[p, weight, bias], "policy.planes", &[]);
        // From cells to spots, a plane's one after the other.
        let shape = self.graph.numbers("policy.cells", &[0, POLICY_PLANES as i64, -1]);
        let planes = self.node("Reshape", &[planes, shape], "policy.planes.cells", &[]);
        let spots: Vec<i64> = Spot::ALL.iter().map(|&spot| cell(spot) as i64).collect();
        let spots = self.graph.numbers("cells_of_spots", &spots);
        let axis = [("axis", Attribute::Int(2))];
        let planes = self.node("Gather", &[planes, spots], "policy.planes.spots", &axis);
        let planes = self.node("Flatten", &[planes], "policy.planes.flat", &[]);
        let whole = self.linear("policy.globals", "policy.globals.linear", g);
        let axis = [("axis", Attribute::Int(1))];
        let all = self.node("Concat", &[planes, whole], "policy.all", &axis);
        debug_assert_eq!(POLICY_SIZE, POLICY_PLANES * PLANE_SPOTS + POLICY_GLOBALS);
        self.graph.output(
            "policy",
            all,
            &[POLICY_SIZE],
            "logits by plane and spot, then four more",
        );
    }

    fn value(&mut self, trunk: Value, globals: Value) {
        let v = self.convolution("value.conv", "value.bn", trunk);
        let v = self.on_spots("value.first", v);
        let v = self.pool("value.pool", v);
        let axis = [("axis", Attribute::Int(1))];
        let v = self.node("Concat", &[v, globals], "value.in", &axis);
        let v = self.linear("value.hidden", "value.hidden.linear", v);
        let v = self.node("Relu", &[v], "value.hidden.out", &[]);
        let outcome = self.linear("value.outcome", "value.outcome.linear", v.clone());
        let axis = [("axis", Attribute::Int(1))];
        let outcome = self.node("Softmax", &[outcome], "value.outcome.softmax", &axis);
        let words = "probabilities of win, loss and unfinished, for the side that decides";
        self.graph.output("value", outcome, &[3], words);
        let left = self.linear("value.plays_left", "value.plays_left.linear", v);
        let left = self.node("Softplus", &[left], "value.plays_left.softplus", &[]);
        let scale = self.graph.floats("plays_left_scale", &[1], &[PLAYS_LEFT_SCALE]);
        let left = self.node("Mul", &[left, scale], "value.plays_left.plays", &[]);
        self.graph.output("plays_left", left, &[1], "plays to the end of the game");
    }

    fn node(
        &mut self,
        operator: &str,
        inputs: &[Value],
        name: &str,
        attributes: &[(&str, Attribute)],
    ) -> Value {
        self.graph.node(operator, inputs, name, attributes)
    }

    fn tensor(&self, name: &str) -> &'a [f32] {
        self.checkpoint.tensors.get(name).map_or(&[], |tensor| &tensor.data)
    }

    /// A tensor of the checkpoint as it is.
    fn weight(&mut self, name: &str) -> Value {
        let Some(tensor) = self.checkpoint.tensors.get(name) else {
            return self.graph.floats(name, &[0], &[]);
        };
        self.graph.floats(name, &tensor.shape, &tensor.data)
    }

    /// `[out, in, TAPS]` weights as a 3x3 kernel, `[out, in]` ones as a 1x1 kernel, each output scaled.
    fn kernel(&mut self, name: &str, factors: Option<&[(f32, f32)]>) -> Value {
        let name = format!("{name}.weight");
        let Some(tensor) = self.checkpoint.tensors.get(&name) else {
            return self.graph.floats(&name, &[0], &[]);
        };
        let (outputs, inputs) = (tensor.shape[0], tensor.shape[1]);
        let (side, cells) =
            if tensor.shape.len() == 3 { (3, kernel_cells().to_vec()) } else { (1, vec![0]) };
        let mut kernel = vec![0.0; outputs * inputs * side * side];
        let rows = tensor.data.chunks(cells.len()).zip(kernel.chunks_mut(side * side));
        for (at, (taps, row)) in rows.enumerate() {
            let factor = factors.and_then(|factors| factors.get(at / inputs));
            for (&tap, &cell) in taps.iter().zip(&cells) {
                row[cell] = tap * factor.map_or(1.0, |(factor, _)| *factor);
            }
        }
        self.graph.floats(&name, &[outputs, inputs, side, side], &kernel)
    }

    /// A convolution followed by a batch normalisation.
    fn convolution(&mut self, name: &str, norm: &str, x: Value) -> Value {
        let norm = self.checkpoint.folded_norm(norm);
        let weight = self.kernel(name, Some(&norm));
        let shifts: Vec<f32> = norm.iter().map(|(_, shift)| *shift).collect();
        let bias = self.graph.floats(&format!("{name}.bias"), &[shifts.len()], &shifts);
        let taps = self.checkpoint.tensors.get(&format!("{name}.weight"));
        let pad = i64::from(taps.is_some_and(|tensor| tensor.shape.len() == 3));
        let pads = [("pads", Attribute::Ints(vec![pad; 4]))];
        self.node("Conv", &[x, weight, bias], name, &pads)
    }

    /// Rectified, and 0 where no spot is.
    fn on_spots(&mut self, name: &str, x: Value) -> Value {
        let x = self.node("Relu", &[x], &format!("{name}.relu"), &[]);
        let mask = self.mask.clone();
        self.node("Mul", &[x, mask], &format!("{name}.spots"), &[])
    }

    /// Mean and largest over the spots, `[batch, 2 * channels]`. What is rectified is never below the zeros of the other cells.
    fn pool(&mut self, name: &str, x: Value) -> Value {
        let part = |part: &str| format!("{name}.{part}");
        let mean = self.node("GlobalAveragePool", &[x.clone()], &part("cells"), &[]);
        let ratio = self.cells_a_spot.clone();
        let mean = self.node("Mul", &[mean, ratio], &part("mean"), &[]);
        let most = self.node("GlobalMaxPool", &[x], &part("max"), &[]);
        let axis = [("axis", Attribute::Int(1))];
        let both = self.node("Concat", &[mean, most], &part("both"), &axis);
        self.node("Flatten", &[both], &part("flat"), &[])
    }

    /// The product with the rows of a weight.
    fn gemm(&mut self, name: &str, x: Value, weight: Value, bias: Option<Value>) -> Value {
        let inputs: Vec<Value> = [x, weight].into_iter().chain(bias).collect();
        self.node("Gemm", &inputs, name, &[("transB", Attribute::Int(1))])
    }

    /// A linear map of the checkpoint with its bias.
    fn linear(&mut self, tensors: &str, name: &str, x: Value) -> Value {
        let weight = self.weight(&format!("{tensors}.weight"));
        let bias = self.weight(&format!("{tensors}.bias"));
        self.gemm(name, x, weight, Some(bias))
    }

    /// Adds a number a channel to every cell.
    fn add_to_cells(&mut self, name: &str, x: Value, addends: Value) -> Value {
        let axes = self.graph.numbers(&format!("{name}.axes"), &[2, 3]);
        let addends = self.node("Unsqueeze", &[addends, axes], &format!("{name}.column"), &[]);
        self.node("Add", &[x, addends], &format!("{name}.sum"), &[])
    }
}
