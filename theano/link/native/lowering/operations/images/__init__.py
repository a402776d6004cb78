"""Operations on batches of images, which the runtime computes."""
