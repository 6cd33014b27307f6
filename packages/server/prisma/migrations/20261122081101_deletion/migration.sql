-- AlterTable
ALTER TABLE "conversation" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "idempotency_record" ADD COLUMN     "project_id" INTEGER;

-- AlterTable
ALTER TABLE "project" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3),
ADD COLUMN     "retention_days" INTEGER;

-- CreateTable
CREATE TABLE "erasure" (
    "id" SERIAL NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER,
    "custom_identifier" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "conversation_deleted_at_idx" ON "conversation"("deleted_at") WHERE (deleted_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "idempotency_record_conversation_uuid_idx" ON "idempotency_record"("conversation_uuid") WHERE (conversation_uuid IS NOT NULL);

-- CreateIndex
CREATE INDEX "idempotency_record_project_id_idx" ON "idempotency_record"("project_id") WHERE (project_id IS NOT NULL);
