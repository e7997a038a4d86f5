//! Packet error rates of the link simulations that 802.11 itself works with, point by point. Only figures.
//!
//! Additive white Gaussian noise, 20 MHz, one stream, perfect synchronisation and channel estimate; 40,000 packets a
//! point. R. Patidar, S. Roy, T. R. Henderson and A. Chandramohan, *Link-to-System Mapping for ns-3 Wi-Fi OFDM Error
//! Models*, Workshop on ns-3, 2017, by MATLAB's WLAN Toolbox, compared there with the curves of TGax (IEEE
//! 802.11-14/0571r12); the figures are those that ns-3.44 has.

/// Measured points of one MCS. Points without any error, or with nothing but errors, are left out: they say nothing
/// about the slope.
pub(super) struct Curve {
    /// SNR of the first point \[dB\].
    pub first: f64,
    /// Packet error rates, one a step.
    pub errors: &'static [f64],
}

/// Distance of two points of the convolutional code \[dB\].
pub(super) const BCC_STEP: f64 = 0.5;
/// Distance of two points of LDPC \[dB\].
pub(super) const LDPC_STEP: f64 = 0.25;

/// Convolutional code, packets of 32 byte, MCS 0 to 9.
pub(super) const BCC_32: [Curve; 10] = [
    Curve {
        first: -3.0,
        errors: &[0.995, 0.9408, 0.8259, 0.5895, 0.3083, 0.1254, 0.0344, 0.0085, 0.0015, 0.00024, 0.00009],
    },
    Curve {
        first: 0.0,
        errors: &[0.9921, 0.9671, 0.8349, 0.5874, 0.3169, 0.1182, 0.0364, 0.0085, 0.0016, 0.00026, 0.00003],
    },
    Curve {
        first: 2.5,
        errors: &[0.994, 0.9588, 0.8512, 0.599, 0.3125, 0.1171, 0.0339, 0.0078, 0.0016, 0.00028, 0.00008],
    },
    Curve {
        first: 4.5,
        errors: &[
            0.999, 0.998, 0.969, 0.8843, 0.7409, 0.4651, 0.2571, 0.108, 0.0381, 0.0119, 0.0032, 0.00076, 0.00017,
            0.00003,
        ],
    },
    Curve {
        first: 8.5,
        errors: &[0.999, 0.9479, 0.7989, 0.5923, 0.337, 0.1572, 0.0542, 0.0158, 0.004, 0.0011, 0.00027, 0.00009],
    },
    Curve {
        first: 12.0,
        errors: &[
            0.998, 0.9653, 0.897, 0.7301, 0.5257, 0.3058, 0.1575, 0.0646, 0.0241, 0.0079, 0.0023, 0.00069, 0.00018,
            0.00004, 0.00002,
        ],
    },
    Curve {
        first: 13.5,
        errors: &[
            0.9901, 0.9625, 0.8398, 0.6866, 0.4634, 0.252, 0.1145, 0.0461, 0.0158, 0.0049, 0.0016, 0.00039, 0.00011,
            0.00002,
        ],
    },
    Curve {
        first: 14.5,
        errors: &[
            0.997, 0.9833, 0.9426, 0.8483, 0.6347, 0.4377, 0.2226, 0.1111, 0.044, 0.0173, 0.0053, 0.0019, 0.00052,
            0.00016, 0.00004,
        ],
    },
    Curve {
        first: 18.0,
        errors: &[
            0.996, 0.9804, 0.9286, 0.8225, 0.675, 0.4414, 0.2666, 0.1338, 0.0595, 0.0245, 0.0091, 0.0032, 0.00098,
            0.00033, 0.00014, 0.00004,
        ],
    },
    Curve {
        first: 19.5,
        errors: &[
            0.998, 0.9891, 0.9597, 0.875, 0.7317, 0.5154, 0.3038, 0.1524, 0.0634, 0.0247, 0.0085, 0.0029, 0.001,
            0.00017, 0.00014, 0.00002,
        ],
    },
];

/// Convolutional code, packets of 1458 byte, MCS 0 to 9.
pub(super) const BCC_1458: [Curve; 10] = [
    Curve { first: -0.5, errors: &[0.994, 0.8185, 0.2908, 0.0663, 0.0112, 0.0015, 0.00015, 0.00001] },
    Curve { first: 2.5, errors: &[0.997, 0.7944, 0.3008, 0.0728, 0.012, 0.0015, 0.00023] },
    Curve { first: 5.0, errors: &[0.998, 0.7578, 0.301, 0.0676, 0.0122, 0.0023, 0.00035, 0.00004] },
    Curve { first: 8.0, errors: &[0.994, 0.8405, 0.4341, 0.1419, 0.0374, 0.0086, 0.0019, 0.00036, 0.00005] },
    Curve { first: 11.5, errors: &[0.9269, 0.5139, 0.1826, 0.0465, 0.011, 0.0026, 0.00041, 0.0001] },
    Curve {
        first: 15.0,
        errors: &[0.999, 0.9479, 0.6625, 0.2978, 0.1058, 0.0334, 0.0091, 0.0023, 0.00064, 0.00017, 0.00002],
    },
    Curve { first: 16.5, errors: &[0.995, 0.8796, 0.5139, 0.2091, 0.0639, 0.0186, 0.0046, 0.0013, 0.00023, 0.00002] },
    Curve { first: 18.0, errors: &[0.9785, 0.7393, 0.3375, 0.1234, 0.0355, 0.01, 0.0027, 0.0005, 0.00009, 0.00001] },
    Curve {
        first: 21.5,
        errors: &[0.998, 0.9399, 0.6709, 0.3525, 0.1376, 0.0475, 0.0154, 0.0052, 0.0015, 0.00036, 0.00007],
    },
    Curve {
        first: 23.0,
        errors: &[0.999, 0.9506, 0.6847, 0.3261, 0.1248, 0.0409, 0.013, 0.0036, 0.00082, 0.0001, 0.00002, 0.00001],
    },
];

/// LDPC, packets of 1458 byte, MCS 0 to 11.
pub(super) const LDPC_1458: [Curve; 12] = [
    Curve { first: -1.25, errors: &[0.9795, 0.6048, 0.1705, 0.0332, 0.0053, 0.00085, 0.00022, 0.00004] },
    Curve { first: 1.75, errors: &[0.9747, 0.6233, 0.1859, 0.034, 0.0055, 0.00083, 0.00015, 0.00003] },
    Curve { first: 4.25, errors: &[0.9872, 0.6256, 0.158, 0.0209, 0.0025, 0.00034, 0.00003] },
    Curve { first: 7.0, errors: &[0.998, 0.9434, 0.5789, 0.2064, 0.0484, 0.0093, 0.0018, 0.0004, 0.00011, 0.00002] },
    Curve { first: 10.25, errors: &[0.9931, 0.7089, 0.2472, 0.047, 0.0059, 0.00091, 0.00016, 0.00003] },
    Curve { first: 14.25, errors: &[0.997, 0.9183, 0.5379, 0.1661, 0.0369, 0.0065, 0.001, 0.00031, 0.00005] },
    Curve { first: 15.75, errors: &[0.9814, 0.7393, 0.3311, 0.0815, 0.0162, 0.0027, 0.00052, 0.00005, 0.00003] },
    Curve { first: 17.25, errors: &[0.9775, 0.7398, 0.3319, 0.0964, 0.0218, 0.0047, 0.00087, 0.00018, 0.00003] },
    Curve {
        first: 20.75,
        errors: &[0.995, 0.897, 0.5627, 0.2092, 0.056, 0.0117, 0.0025, 0.00038, 0.00013, 0.00004, 0.00001],
    },
    Curve { first: 22.5, errors: &[0.999, 0.9408, 0.636, 0.2719, 0.087, 0.0221, 0.005, 0.0011, 0.00032, 0.00004] },
    Curve { first: 26.0, errors: &[0.9497, 0.6866, 0.3294, 0.1162, 0.0344, 0.0088, 0.0021, 0.00054, 0.00009, 0.00002] },
    Curve { first: 28.0, errors: &[0.9488, 0.7526, 0.4023, 0.1621, 0.0515, 0.0131, 0.0036, 0.001, 0.00022, 0.00006] },
];
