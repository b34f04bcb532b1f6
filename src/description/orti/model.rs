//! The content of an ORTI file: object types and objects. Not the parser, and not what attributes mean.

use super::findings::Finding;

/// The content of one ORTI file.
#[derive(Debug, Clone, Default)]
pub struct Orti {
    /// `KOIL = "2.1"` of the version section.
    pub koil_version: Option<String>,
    /// `OSSEMANTICS = "ORTI", "2.2"`: name and version.
    pub semantics: Option<(String, String)>,
    /// The name after `IMPLEMENTATION`.
    pub implementation: Option<String>,
    /// The declaration section, in file order.
    pub types: Vec<ObjectType>,
    /// The information section, in file order.
    pub objects: Vec<Object>,
    /// What was unusual or unusable, in the order of places.
    pub findings: Vec<Finding>,
}

/// One declared kind of object, e.g. `TASK`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectType {
    /// The kind, e.g. `TASK` or `vs_ISR`.
    pub name: String,
    /// The text a debugger shows.
    pub description: Option<String>,
    /// The declared attributes, in file order.
    pub attributes: Vec<AttributeType>,
    /// 1-based line of the name.
    pub line: u32,
}

/// One declared attribute of a kind of object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeType {
    /// The name, e.g. `RUNNINGTASK`.
    pub name: String,
    /// Declared with `[]`: one value per core (multi-core extension of the generators).
    pub array: bool,
    /// Declared with `TOTRACE`: its formula is a plain variable whose changes can be traced.
    pub to_trace: bool,
    /// The type of its values.
    pub kind: AttributeKind,
    /// The text a debugger shows.
    pub description: Option<String>,
    /// 1-based line of the name.
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeKind {
    /// A formula with a plain number; holds the C type, if the file names one.
    CType(Option<String>),
    /// Literal text, never a formula.
    String,
    /// A formula whose values have names.
    Enum {
        /// The C type of the formula, if the file names one.
        c_type: Option<String>,
        /// The names and their values, in file order; names may repeat.
        elements: Vec<EnumElement>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumElement {
    /// The name, e.g. `READY`.
    pub label: String,
    /// The object it refers to (`"label" : object = value`).
    pub link: Option<String>,
    pub value: EnumValue,
}

/// The value of an enumeration element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnumValue {
    /// A number, whether quoted or not.
    Integer(i64),
    /// A formula that is not a constant: a handler symbol, or `&(x[0])`.
    Formula(String),
}

/// One object of the information section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its kind, e.g. `TASK`.
    pub kind: String,
    pub name: String,
    /// Its attributes, in file order, duplicates included.
    pub attributes: Vec<Attribute>,
    /// 1-based line of the kind.
    pub line: u32,
}

/// One attribute value of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    pub name: String,
    /// The `0` of `RUNNINGTASK[0] = …`.
    pub index: Option<u32>,
    /// The value without its quotes: a formula, or text if the attribute is declared as `STRING`.
    pub text: String,
    /// 1-based line of the value.
    pub line: u32,
    /// 1-based column of the value, in bytes.
    pub column: u32,
}

impl Orti {
    /// The objects of one kind, in file order.
    pub fn objects<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Object> {
        self.objects.iter().filter(move |o| o.kind == kind)
    }

    /// The declaration of an attribute; the last one wins.
    pub fn attribute_type(&self, kind: &str, attribute: &str) -> Option<&AttributeType> {
        let types = self.types.iter().rev().filter(|t| t.name == kind);
        types.flat_map(|t| t.attributes.iter().rev()).find(|a| a.name == attribute)
    }
}

impl Object {
    /// The value of an attribute with any index; the last one wins.
    pub fn get(&self, attribute: &str) -> Option<&Attribute> {
        self.attributes.iter().rev().find(|a| a.name == attribute)
    }
}

impl AttributeType {
    /// The C type of the values, if the file names one.
    pub fn c_type(&self) -> Option<&str> {
        match &self.kind {
            AttributeKind::CType(c_type) | AttributeKind::Enum { c_type, .. } => c_type.as_deref(),
            AttributeKind::String => None,
        }
    }

    /// The enumeration elements; empty when the attribute is no enumeration.
    pub fn elements(&self) -> &[EnumElement] {
        match &self.kind {
            AttributeKind::Enum { elements, .. } => elements,
            AttributeKind::CType(_) | AttributeKind::String => &[],
        }
    }
}
