-- AlterTable
ALTER TABLE "project" ADD COLUMN     "keep_parameters" BOOLEAN;

-- The key that queued a run is the key that started it.
ALTER TABLE "run" RENAME COLUMN "queued_by" TO "api_key_id";

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "author_id" INTEGER,
ADD COLUMN     "cached_tokens" INTEGER,
ADD COLUMN     "cost_nano" BIGINT,
ADD COLUMN     "document_uuid" UUID,
ADD COLUMN     "finish_reason" TEXT,
ADD COLUMN     "first_token_ms" INTEGER,
ADD COLUMN     "given_count" INTEGER,
ADD COLUMN     "given_from" INTEGER,
ADD COLUMN     "input_tokens" INTEGER,
ADD COLUMN     "mode" TEXT,
ADD COLUMN     "model" TEXT,
ADD COLUMN     "output_tokens" INTEGER,
ADD COLUMN     "parameters" TEXT,
ADD COLUMN     "parameters_state" TEXT NOT NULL DEFAULT 'none',
ADD COLUMN     "project_id" INTEGER,
ADD COLUMN     "provider" TEXT,
ADD COLUMN     "spans" TEXT,
ADD COLUMN     "started_at" TIMESTAMPTZ(3),
ADD COLUMN     "usage_estimated" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "version_uuid" UUID;

UPDATE "run" r SET "project_id" = c."project_id", "document_uuid" = c."document_uuid", "version_uuid" = c."version_uuid",
  "mode" = CASE WHEN c."origin" = 'background' THEN 'background' ELSE 'sse' END
FROM "conversation" c WHERE c."uuid" = r."conversation_uuid";

ALTER TABLE "run" ALTER COLUMN "project_id" SET NOT NULL,
ALTER COLUMN "document_uuid" SET NOT NULL,
ALTER COLUMN "version_uuid" SET NOT NULL,
ALTER COLUMN "mode" SET NOT NULL;

-- CreateTable
CREATE TABLE "run_figure" (
    "run_uuid" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "version_uuid" UUID NOT NULL,
    "model" TEXT,
    "via" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "first_token_ms" INTEGER,
    "input_tokens" INTEGER NOT NULL,
    "output_tokens" INTEGER NOT NULL,
    "cached_tokens" INTEGER NOT NULL,
    "cost_nano" BIGINT,
    "usage_estimated" BOOLEAN NOT NULL,

    CONSTRAINT "run_figure_pkey" PRIMARY KEY ("run_uuid")
);

-- CreateIndex
CREATE INDEX "run_figure_project_id_at_idx" ON "run_figure"("project_id", "at");

-- CreateIndex
CREATE INDEX "run_figure_document_uuid_at_idx" ON "run_figure"("document_uuid", "at");

-- CreateIndex
CREATE INDEX "run_project_id_created_at_uuid_idx" ON "run"("project_id", "created_at", "uuid");

-- CreateIndex
CREATE INDEX "run_failed_idx" ON "run"("project_id", "created_at", "uuid") WHERE (status = 'error'::text);

-- CreateIndex
CREATE INDEX "run_document_uuid_created_at_uuid_idx" ON "run"("document_uuid", "created_at", "uuid");
