-- DropIndex
DROP INDEX "document_project_id_valid_to_idx";

-- AlterTable
ALTER TABLE "document" ADD COLUMN     "refers" BOOLEAN NOT NULL GENERATED ALWAYS AS (strpos(content, '<prompt'::text) > 0) STORED;

-- CreateIndex
CREATE INDEX "conversation_version_uuid_created_at_uuid_idx" ON "conversation"("version_uuid", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "conversation_document_uuid_created_at_uuid_idx" ON "conversation"("document_uuid", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "document_project_id_valid_from_idx" ON "document"("project_id", "valid_from");

-- CreateIndex
CREATE INDEX "document_project_id_valid_to_refers_idx" ON "document"("project_id", "valid_to", "refers");
