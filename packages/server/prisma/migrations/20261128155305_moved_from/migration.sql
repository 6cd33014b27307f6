-- AlterTable
ALTER TABLE "document" ADD COLUMN     "moved_from" TEXT;

-- CreateIndex
CREATE INDEX "document_version_id_moved_from_idx" ON "document"("version_id", "moved_from") WHERE (moved_from IS NOT NULL);
