//! Apache Parquet: the rows of csv in columns, compressed by none so that every reader has what it needs.

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::flat::{self, Field, Kind};
use crate::view::Taken;

/// Rows of one row group, which is held in memory.
const ROWS: usize = 100_000;

pub(super) fn write(taken: &Taken<'_>, out: &mut dyn Write) -> Result<()> {
    table("launches", &flat::columns(taken), flat::rows(taken).map(|row| flat::fields(&row)), out)
}

/// Rows of any table; each has a field for every column.
pub(super) fn table(
    name: &str,
    columns: &[(String, Kind)],
    rows: impl Iterator<Item = Vec<Field>>,
    out: &mut dyn Write,
) -> Result<()> {
    let fields = columns.iter().map(|(name, kind)| column_type(name, *kind).map(Arc::new)).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default()))?;
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let some: Vec<Vec<Field>> = rows.by_ref().take(ROWS).collect();
        let mut group = file.next_row_group()?;
        for (index, (_, kind)) in columns.iter().enumerate() {
            column(&mut group, *kind, some.iter().map(|row| &row[index]))?;
        }
        group.close()?;
    }
    Ok(out.write_all(&file.into_inner()?)?)
}

fn column_type(name: &str, kind: Kind) -> Result<Type> {
    let (physical, converted) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Kind::Whole => (Physical::INT64, ConvertedType::NONE),
        Kind::Number => (Physical::DOUBLE, ConvertedType::NONE),
        Kind::Flag => (Physical::BOOLEAN, ConvertedType::NONE),
    };
    let builder = Type::primitive_type_builder(name, physical).with_converted_type(converted);
    Ok(builder.with_repetition(Repetition::OPTIONAL).build()?)
}

fn column<'a>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    kind: Kind,
    fields: impl Iterator<Item = &'a Field>,
) -> Result<()> {
    let Some(writer) = group.next_column()? else { return Ok(()) };
    match kind {
        Kind::Text => fill::<ByteArrayType>(writer, fields, |field| match field {
            Field::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
        Kind::Whole => {
            fill::<Int64Type>(writer, fields, |field| if let Field::Whole(value) = field { Some(*value) } else { None })
        }
        Kind::Number => fill::<DoubleType>(writer, fields, |field| match field {
            Field::Number(value) => Some(*value),
            _ => None,
        }),
        Kind::Flag => {
            fill::<BoolType>(writer, fields, |field| if let Field::Flag(value) = field { Some(*value) } else { None })
        }
    }
}

fn fill<'a, T: DataType>(
    mut writer: SerializedColumnWriter<'_>,
    fields: impl Iterator<Item = &'a Field>,
    value: impl Fn(&Field) -> Option<T::T>,
) -> Result<()> {
    let found: Vec<Option<T::T>> = fields.map(value).collect();
    let levels: Vec<i16> = found.iter().map(|f| i16::from(f.is_some())).collect();
    let values: Vec<T::T> = found.into_iter().flatten().collect();
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(writer.close()?)
}
