/* Asks the agent of a host for connections without the key of its job: late_connect ADDRESS PORT TIMES */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

int main(int argc, char **argv)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *eq;
    struct fid_cq *cq;
    struct fi_eq_attr ea = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr ca = {.format = FI_CQ_FORMAT_MSG};
    struct fi_eq_cm_entry entry;
    const unsigned char wrong[36] = {0};
    uint32_t event;
    int asked = 0, times = argc > 3 ? atoi(argv[3]) : 0;
    hints->caps = FI_MSG;
    hints->ep_attr->type = FI_EP_MSG;
    hints->fabric_attr->prov_name = strdup("tcp");
    if (fi_getinfo(FI_VERSION(1, 9), argv[1], argv[2], 0, hints, &info) != 0 ||
        fi_fabric(info->fabric_attr, &fabric, NULL) != 0 || fi_eq_open(fabric, &ea, &eq, NULL) != 0 ||
        fi_domain(fabric, info, &domain, NULL) != 0 || fi_cq_open(domain, &ca, &cq, NULL) != 0) {
        return 2;
    }
    for (int i = 0; i < times; i++) {
        struct fid_ep *ep;
        if (fi_endpoint(domain, info, &ep, NULL) != 0) {
            break;
        }
        fi_ep_bind(ep, &eq->fid, 0);
        fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV);
        fi_enable(ep);
        asked += fi_connect(ep, info->dest_addr, wrong, sizeof wrong) == 0;
        fi_eq_sread(eq, &event, &entry, sizeof entry, 1, 0);
    }
    for (int i = 0; i < 20; i++) { /* what is half connected goes on */
        fi_eq_sread(eq, &event, &entry, sizeof entry, 10, 0);
    }
    return asked == times ? 0 : 3;
}
