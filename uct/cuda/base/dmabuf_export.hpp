// Device memory as dma-bufs, by which RDMA devices access it.
#pragma once

namespace uct::cuda {

// Makes ucs::memory::find_dmabuf() find memory of CUDA devices, from now on until the process ends.
// Later calls do nothing. Any thread.
void export_dmabufs();

}  // namespace uct::cuda
