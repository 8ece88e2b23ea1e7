"""Operations on images: resizing, cropping, colours, boxes and the codecs of files."""
