"""Operations on text: tensors of bytes."""
