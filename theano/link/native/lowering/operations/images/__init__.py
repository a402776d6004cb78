"""Operations on batches of images."""
