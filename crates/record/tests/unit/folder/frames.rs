use super::*;

#[test]
fn texts_come_back_and_a_flipped_bit_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let texts = |n: u8| {
        vec![
            FramePart {
                name: "request.a".into(),
                bytes: vec![n; 100],
            },
            FramePart {
                name: "t".into(),
                bytes: Vec::new(),
            },
        ]
    };
    let first = append(&folder, 0, 0, &texts(1)).unwrap();
    let second = append(&folder, first.length, 1, &texts(2)).unwrap();
    let read_parts = |frame: &Frame| -> Result<Vec<FramePart>> {
        let text = read(&folder, frame)?;
        let found = parts(&text)?;
        Ok(found
            .into_iter()
            .map(|(name, bytes)| FramePart {
                name: name.into(),
                bytes: bytes.into(),
            })
            .collect())
    };
    assert_eq!(read_parts(&first).unwrap(), texts(1));
    assert_eq!(read_parts(&second).unwrap(), texts(2));
    assert_eq!(
        (
            behind(&folder, 0),
            behind(&folder, first.length),
            behind(&folder, 1)
        ),
        (vec![0, 1], vec![1], vec![])
    );
    let mut bytes = folder.read(TRANSCRIPTS, MOST_BYTES).unwrap();
    bytes[second.offset as usize + 9] ^= 4;
    folder.write(TRANSCRIPTS, &bytes).unwrap();
    assert!(
        read(&folder, &second)
            .unwrap_err()
            .to_string()
            .contains("not as it was written")
    );
    assert_eq!(read_parts(&first).unwrap(), texts(1));
}
